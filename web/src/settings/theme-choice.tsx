import { Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { Choice } from "../parts/form/choice.tsx";
import { chooseTheme, chosenTheme, THEMES, type Theme } from "./theme.ts";

const LOOKS: Readonly<Record<Theme, { readonly label: string; readonly icon: typeof Sun }>> = {
  system: { label: "System", icon: Monitor },
  light: { label: "Light", icon: Sun },
  dark: { label: "Dark", icon: Moon },
};

export function ThemeChoice() {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <span aria-hidden className="text-sm font-medium">
        Theme
      </span>
      <Choice
        label="Theme"
        value={theme}
        onChoose={(chosen) => {
          chooseTheme(chosen);
          setTheme(chosen);
        }}
        options={THEMES.map((value) => {
          const { label, icon: Icon } = LOOKS[value];
          return {
            value,
            label: (
              <>
                <Icon className="size-4" aria-hidden />
                {label}
              </>
            ),
          };
        })}
      />
    </div>
  );
}
