import { Ellipsis, Keyboard, Plus, RotateCw } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState, useSyncExternalStore } from "react";
import { Link, useLocation } from "wouter";
import { usePendingApprovals } from "../approvals/pending.ts";
import { useCaller, useMay } from "../caller.tsx";
import { Attempt } from "../parts/failure/attempt.tsx";
import { Button } from "../parts/button.tsx";
import { cx } from "../parts/cx.ts";
import { Toasts } from "../parts/toast.tsx";
import { Logo } from "./logo.tsx";
import { isAt, type NavPage, PLACES } from "./nav.ts";
import { ServerAway } from "./no-server.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { TitleBadge } from "./title-badge.tsx";

/** Pages in a phone's navigation bar; the others are behind a menu. */
const ON_PHONE = 4;

/** Loaded on demand: menus are a large part of the first page's code. */
const MoreMenu = lazy(async () => ({ default: (await import("./more-menu.tsx")).MoreMenu }));

const MORE = (
  <button type="button" className="flex flex-1 flex-col items-center gap-0.5 py-1.5 text-xs text-muted">
    <Ellipsis className="size-5" aria-hidden />
    More
  </button>
);

/** Reload the page if the file is missing, for example after a server update. */
const RELOAD = (
  <button
    type="button"
    onClick={() => location.reload()}
    className="flex flex-1 flex-col items-center gap-0.5 py-1.5 text-xs text-muted"
  >
    <RotateCw className="size-5" aria-hidden />
    Reload
  </button>
);

/** The frame of every page: navigation, the current user and pending approvals. */
export function Layout({ children }: { readonly children: ReactNode }) {
  const [location, navigate] = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const waiting = usePendingApprovals().length;
  const mayStart = useMay("operator");
  const isPhone = useSyncExternalStore(onWidth, () => NARROW.matches);
  useShortcuts({
    "?": () => setHelpOpen(true),
    ...(mayStart && { n: () => navigate("/new") }),
    ...Object.fromEntries(PLACES.map(({ key, path }) => [`g ${key}`, () => navigate(path)])),
  });
  const count = (place: NavPage): number => (place.path === "/approvals" ? waiting : 0);
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-surface focus:p-2"
      >
        Skip to content
      </a>
      <nav aria-label="Main" className="hidden w-52 shrink-0 flex-col gap-1 border-r border-line p-3 md:flex">
        <Link href="/" className="mb-3 px-2">
          <Logo />
        </Link>
        {mayStart && (
          <Button
            look="primary"
            className="mb-2"
            icon={<Plus className="size-4" />}
            hint="n"
            onClick={() => navigate("/new")}
          >
            New session
          </Button>
        )}
        {PLACES.map((place) => (
          <NavLink key={place.path} look={SIDE} place={place} isCurrent={isAt(place, location)} count={count(place)} />
        ))}
        <div className="mt-auto flex flex-col gap-1">
          <Button
            look="quiet"
            small
            className="justify-start"
            icon={<Keyboard className="size-4" />}
            hint="?"
            onClick={() => setHelpOpen(true)}
          >
            Shortcuts
          </Button>
          <Who />
        </div>
      </nav>
      <main id="content" tabIndex={-1} className="min-h-0 min-w-0 flex-1 overflow-y-auto outline-none">
        {/* The session page shows this itself, with more detail. */}
        {!location.startsWith("/sessions/") && <ServerAway />}
        {children}
      </main>
      <nav
        aria-label="Main"
        className="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {PLACES.slice(0, ON_PHONE).map((place) => (
          <NavLink key={place.path} look={FOOT} place={place} isCurrent={isAt(place, location)} count={count(place)} />
        ))}
        {isPhone && (
          <Attempt instead={RELOAD}>
            <Suspense fallback={MORE}>
              <MoreMenu trigger={MORE} places={PLACES.slice(ON_PHONE)} mayStart={mayStart} />
            </Suspense>
          </Attempt>
        )}
      </nav>
      {isHelpOpen && <ShortcutHelp onClose={() => setHelpOpen(false)} />}
      <TitleBadge />
      <Toasts />
    </div>
  );
}

/** Same breakpoint as `md` in the styles. */
const NARROW = matchMedia("(width < 48rem)");

function onWidth(listener: () => void): () => void {
  NARROW.addEventListener("change", listener);
  return () => NARROW.removeEventListener("change", listener);
}

/** Beside the page, or at the bottom on a phone. */
const SIDE = {
  link: "flex h-8 items-center gap-2 rounded-md px-2 text-sm font-medium transition-colors",
  current: "bg-sunken text-text",
  other: "text-muted hover:bg-sunken hover:text-text",
  icon: "size-4",
};
const FOOT: typeof SIDE = {
  link: "relative flex flex-1 flex-col items-center gap-0.5 py-1.5 text-xs",
  current: "text-accent",
  other: "text-muted",
  icon: "size-5",
};

function NavLink({
  look,
  place: { path, name, icon: Icon },
  isCurrent,
  count,
}: {
  readonly look: typeof SIDE;
  readonly place: NavPage;
  readonly isCurrent: boolean;
  readonly count: number;
}) {
  return (
    <Link
      href={path}
      aria-current={isCurrent ? "page" : undefined}
      className={cx(look.link, isCurrent ? look.current : look.other)}
    >
      <Icon className={look.icon} />
      {name}
      <Count of={count} />
    </Link>
  );
}

function Count({ of }: { readonly of: number }) {
  if (of === 0) return null;
  return (
    <span className="ml-auto min-w-5 rounded-full bg-waiting-soft px-1.5 text-center text-xs font-semibold text-waiting max-md:absolute max-md:top-0.5 max-md:left-1/2 max-md:ml-1">
      <span className="sr-only">needing approval: </span>
      {of}
    </span>
  );
}

function Who() {
  const { name, role, project } = useCaller();
  return (
    <div className="border-t border-line px-2 pt-2 text-xs text-muted">
      <p className="truncate" title={name}>
        {name} · {role}
      </p>
      <p className="truncate text-faint" title={project}>
        {project}
      </p>
    </div>
  );
}
