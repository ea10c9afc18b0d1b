import { useEffect, useState } from "react";

/** The page's colors, resolved: a canvas cannot use CSS variables. */
export interface Palette {
  readonly text: string;
  readonly line: string;
  readonly surface: string;
  readonly series: readonly string[];
  readonly rest: string;
  readonly font: string;
}

const SERIES = [1, 2, 3, 4, 5, 6].map((number) => `--series-${number}`);

function palette(): Palette {
  const probe = document.createElement("span");
  // With reduced motion every change has a very short transition, and the computed color would still be the previous one.
  probe.style.transition = "none";
  document.body.append(probe);
  const resolve = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  try {
    return {
      text: resolve("--muted"),
      line: resolve("--line"),
      surface: resolve("--surface"),
      series: SERIES.map(resolve),
      rest: resolve("--series-rest"),
      font: `11px ${getComputedStyle(document.body).fontFamily}`,
    };
  } finally {
    probe.remove();
  }
}

/** Changes with the theme of the page or the system. */
export function usePalette(): Palette {
  const [current, setCurrent] = useState(palette);
  useEffect(() => {
    const look = (): void => setCurrent(palette());
    const system = matchMedia("(prefers-color-scheme: dark)");
    const chosen = new MutationObserver(look);
    chosen.observe(document.documentElement, { attributeFilter: ["data-theme", "class"] });
    system.addEventListener("change", look);
    return () => {
      chosen.disconnect();
      system.removeEventListener("change", look);
    };
  }, []);
  return current;
}

export function colorOf({ series, rest }: Palette, index: number, isRest: boolean): string {
  return isRest ? rest : (series[index % series.length] ?? rest);
}

/** In CSS pixels. */
const TILE = 8;

/** Patterns that identify a series without its color. */
const PATTERNS: readonly ((draw: CanvasRenderingContext2D) => void)[] = [
  () => {},
  (draw) => strokes(draw, [-2, 10, 10, -2], [-6, 6, 6, -6], [2, 14, 14, 2]),
  (draw) => {
    for (const [x, y] of [
      [2, 2],
      [6, 6],
    ] as const) {
      draw.beginPath();
      draw.arc(x, y, 1.2, 0, 2 * Math.PI);
      draw.fill();
    }
  },
  (draw) => strokes(draw, [0, 2, 8, 2], [0, 6, 8, 6]),
  (draw) => strokes(draw, [-2, -2, 10, 10], [2, -6, 14, 6], [-6, 2, 6, 14]),
  (draw) => strokes(draw, [0, 4, 8, 4], [4, 0, 4, 8]),
];

function strokes(
  draw: CanvasRenderingContext2D,
  ...lines: readonly (readonly [number, number, number, number])[]
): void {
  for (const [fromX, fromY, toX, toY] of lines) {
    draw.beginPath();
    draw.moveTo(fromX, fromY);
    draw.lineTo(toX, toY);
    draw.stroke();
  }
}

/** The fill of a series: its color with a pattern in the background color. */
export function fillOf(
  onto: CanvasRenderingContext2D,
  colors: Palette,
  index: number,
  isRest: boolean,
): CanvasPattern | string {
  const color = colorOf(colors, index, isRest);
  const pattern = isRest ? undefined : PATTERNS[index % PATTERNS.length];
  if (pattern === undefined || index === 0) return color;
  const scale = window.devicePixelRatio;
  const tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(TILE * scale);
  const draw = tile.getContext("2d");
  if (draw === null) return color;
  draw.fillStyle = color;
  draw.fillRect(0, 0, tile.width, tile.height);
  draw.scale(tile.width / TILE, tile.height / TILE);
  draw.globalAlpha = 0.45;
  draw.strokeStyle = draw.fillStyle = colors.surface;
  draw.lineWidth = 1.4;
  pattern(draw);
  return onto.createPattern(tile, "repeat") ?? color;
}
