import uPlot from "uplot";
import { axisTop, labelPositions, type Series, stack, tickNames, type Unit } from "./chart-data.ts";
import { colorOf, fillOf, type Palette } from "./chart-paint.ts";

export const CHART_HEIGHT = 208;
/** In pixels: the width of an x axis label. */
const LABEL_WIDTH = 56;

export interface Drawn {
  /** Short labels of the x axis. */
  readonly places: readonly string[];
  readonly series: readonly Series[];
  readonly unit: Unit;
  /** `bars` are stacked. */
  readonly look: "bars" | "line";
}

/** The position under the pointer, and its distance from the left in pixels. */
export interface Pointed {
  readonly place: number;
  readonly left: number;
}

/** Draws into an element. Positions are numbers, so that the library's time zone cannot shift days. */
export function plot(
  into: HTMLElement,
  { places, series, unit, look }: Drawn,
  colors: Palette,
  onPoint: (pointed: Pointed | undefined) => void,
): uPlot {
  const isStacked = look === "bars";
  const rows = isStacked ? stack(series) : series.map(({ values }) => [...values]);
  const order = isStacked ? series.map((_, index) => series.length - 1 - index) : series.map((_, index) => index);
  const highest = Math.max(0, ...rows.flat().map((value) => value ?? 0));
  const axis: uPlot.Axis = {
    stroke: colors.text,
    font: colors.font,
    grid: { stroke: colors.line, width: 1 },
    ticks: { show: false },
  };
  const drawn = new uPlot(
    {
      width: Math.max(1, into.clientWidth),
      height: CHART_HEIGHT,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false, setScale: false } },
      scales: {
        x: { time: false, range: () => [-0.5, places.length - 0.5] },
        y: { range: () => [0, axisTop(highest, unit)] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          splits: (self) => labelPositions(places.length, Math.floor(self.width / LABEL_WIDTH)),
          values: (_, ticks) => ticks.map((place) => places[place] ?? ""),
        },
        {
          ...axis,
          size: (_, names) => 14 + 6.5 * Math.max(3, ...(names ?? []).map((name) => name.length)),
          values: (_, ticks) => tickNames(ticks, unit),
        },
      ],
      series: [
        {},
        ...order.map((index): uPlot.Series => {
          const isRest = series[index]?.isRest === true;
          return isStacked
            ? {
                width: 0,
                fill: (self) => fillOf(self.ctx, colors, index, isRest),
                paths: uPlot.paths.bars?.({ size: [0.75, 44] }),
                points: { show: false },
              }
            : {
                width: 2,
                stroke: colorOf(colors, index, isRest),
                points: { show: true, size: 6, fill: colors.surface },
              };
        }),
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx, left = -1 }, over }) =>
            onPoint(typeof idx === "number" && left >= 0 ? { place: idx, left: over.offsetLeft + left } : undefined),
        ],
      },
    },
    [places.map((_, place) => place), ...rows],
    into,
  );
  return drawn;
}
