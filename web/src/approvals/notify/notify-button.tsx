import { Bell, BellOff } from "lucide-react";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { tell, tellProblem } from "../../parts/toast.tsx";
import { notifyWish, setNotify } from "./notify.ts";

/** Asks the browser for permission only on a click. */
export function NotifyButton() {
  const [wish, setWish] = useState(notifyWish);
  if (wish === "impossible") return null;
  const isOn = wish === "on";
  const toggle = async (): Promise<void> => {
    const now = await setNotify(!isOn);
    setWish(now);
    if (now === "on") tell("You will be notified of new approvals while this page is in the background.");
  };
  return (
    <Button
      className="max-md:h-10"
      aria-pressed={isOn}
      disabled={wish === "refused"}
      title={wish === "refused" ? "Notifications from this page are blocked in the browser's settings." : undefined}
      icon={isOn ? <Bell className="size-4" aria-hidden /> : <BellOff className="size-4" aria-hidden />}
      onClick={() => void toggle().catch(tellProblem)}
    >
      {wish === "refused" ? "Notifications blocked" : isOn ? "Notifications on" : "Notify me"}
    </Button>
  );
}
