import { Table2 } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { IconButton } from "../button.tsx";
import { type Series, sumAt, total, type Unit } from "./chart-data.ts";
import { fillOf, type Palette, usePalette } from "./chart-paint.ts";
import { CHART_HEIGHT, type Drawn, plot, type Pointed } from "./chart-plot.ts";
import { cx } from "../cx.ts";
import { Card } from "../page.tsx";
import { Table } from "../table.tsx";
import { money, percent, thousands } from "../../../../src/words/amounts.ts";
// Imported only to bundle it.
// oxlint-disable-next-line import/no-unassigned-import
import "./chart.css";

const SAID: Record<Unit, (amount: number) => string> = { usd: money, tokens: thousands, share: percent };

export interface ChartProps extends Drawn {
  readonly title: string;
  /** The measure and its unit. */
  readonly about: string;
  /** A description with the main figure, for screen readers. */
  readonly label: string;
  /** Full labels of the x axis. */
  readonly names: readonly string[];
  /** What the x axis shows, such as `Day`. */
  readonly placeTitle: string;
}

/** A card with a chart, its legend, a readout at the pointer, and a table of the same figures. */
export function Chart({ title, about, label, names, placeTitle, ...drawn }: ChartProps) {
  const colors = usePalette();
  const titleId = useId();
  const [isTable, setTable] = useState(false);
  const { series, unit, look } = drawn;
  return (
    <section aria-labelledby={titleId} className="min-w-0">
      <Card className="flex h-full flex-col gap-3 p-4">
        <div className="flex items-start justify-between gap-2">
          <div className="min-w-0">
            <h2 id={titleId} className="font-semibold">
              {title}
            </h2>
            <p className="text-xs text-faint">{about}</p>
          </div>
          <IconButton
            label={isTable ? "Hide table" : "Show as table"}
            aria-expanded={isTable}
            className="-mt-1 -mr-1"
            onClick={() => setTable(!isTable)}
          >
            <Table2 aria-hidden className="size-4" />
          </IconButton>
        </div>
        <Plot label={label} names={names} drawn={drawn} colors={colors} />
        {look === "bars" && (
          <ul aria-label="Legend" className="flex min-w-0 flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
            {series.map((one, index) => (
              <li key={one.name} className="flex max-w-full items-center gap-1.5">
                <Swatch colors={colors} index={index} isRest={one.isRest === true} />
                <span dir="auto" className="truncate" title={one.name}>
                  {one.name}
                </span>
                <span data-figure className="text-text">
                  {SAID[unit](total(one))}
                </span>
              </li>
            ))}
          </ul>
        )}
        {isTable && <Figures caption={label} names={names} placeTitle={placeTitle} drawn={drawn} />}
      </Card>
    </section>
  );
}

function Plot({
  label,
  names,
  drawn,
  colors,
}: {
  readonly label: string;
  readonly names: readonly string[];
  readonly drawn: Drawn;
  readonly colors: Palette;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Pointed>();
  const { places, series, unit, look } = drawn;
  const told = useRef(label);
  useEffect(() => {
    const into = ref.current;
    if (into === null) return;
    const chart = plot(into, { places, series, unit, look }, colors, setPointed);
    const { canvas } = chart.ctx;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", told.current);
    const sized = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(1, into.clientWidth), height: CHART_HEIGHT }),
    );
    sized.observe(into);
    return () => {
      sized.disconnect();
      chart.destroy();
      setPointed(undefined);
    };
  }, [places, series, unit, look, colors]);
  useEffect(() => {
    told.current = label;
    ref.current?.querySelector("canvas")?.setAttribute("aria-label", label);
  }, [label]);
  return (
    <div className="relative">
      <div ref={ref} className="h-52 w-full overflow-hidden" />
      {pointed !== undefined && <ReadOut pointed={pointed} names={names} drawn={drawn} colors={colors} />}
    </div>
  );
}

/** The values at the pointer. The table shows the same without a pointer. */
function ReadOut({
  pointed: { place, left },
  names,
  drawn: { series, unit, look },
  colors,
}: {
  readonly pointed: Pointed;
  readonly names: readonly string[];
  readonly drawn: Drawn;
  readonly colors: Palette;
}) {
  const said = SAID[unit];
  const shown = series.map((one, index) => ({ one, index })).filter(({ one }) => one.values[place]);
  const isRight = place > names.length / 2;
  return (
    <div
      aria-hidden
      data-read-out
      className={cx(
        "pointer-events-none absolute top-2 z-10 max-w-56 rounded-md border border-line bg-surface p-2 text-xs shadow-float",
        isRight && "-translate-x-full",
      )}
      style={{ left: isRight ? left - 12 : left + 12 }}
    >
      <p className="mb-1 font-medium">{names[place]}</p>
      {look === "line" ? (
        <p data-figure>{series[0]?.values[place] == null ? "no requests" : said(series[0].values[place])}</p>
      ) : (
        <table>
          <tbody>
            {shown.map(({ one, index }) => (
              <tr key={one.name}>
                <td className="pr-1.5">
                  <Swatch colors={colors} index={index} isRest={one.isRest === true} />
                </td>
                <td dir="auto" className="max-w-28 truncate pr-3 text-muted">
                  {one.name}
                </td>
                <td className="text-right">{said(one.values[place] ?? 0)}</td>
              </tr>
            ))}
            {shown.length !== 1 && (
              <tr className="font-medium">
                <td />
                <td className="pr-3">Total</td>
                <td className="text-right">{said(sumAt(series, place))}</td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Swatch({
  colors,
  index,
  isRest,
}: {
  readonly colors: Palette;
  readonly index: number;
  readonly isRest: boolean;
}) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const draw = canvas?.getContext("2d");
    if (canvas == null || draw == null) return;
    canvas.width = canvas.height = Math.round(12 * window.devicePixelRatio);
    draw.fillStyle = fillOf(draw, colors, index, isRest);
    draw.fillRect(0, 0, canvas.width, canvas.height);
  }, [colors, index, isRest]);
  return <canvas ref={ref} aria-hidden className="size-3 shrink-0 rounded-sm" />;
}

interface FigureRow {
  readonly name: string;
  readonly place: number;
}

/** Newest first, as in every list of the console. */
function Figures({
  caption,
  names,
  placeTitle,
  drawn: { series, unit, look },
}: {
  readonly caption: string;
  readonly names: readonly string[];
  readonly placeTitle: string;
  readonly drawn: Drawn;
}) {
  const rows = useMemo(() => names.map((name, place): FigureRow => ({ name, place })).toReversed(), [names]);
  const cell = ({ values }: Series, place: number): string => {
    const value = values[place];
    return value == null ? "–" : SAID[unit](value);
  };
  return (
    <div className="max-h-80 overflow-y-auto">
      <Table<FigureRow>
        caption={caption}
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          { title: placeTitle, cell: ({ name }) => <span className="whitespace-nowrap">{name}</span> },
          ...series.map((one) => ({
            title: one.name,
            figure: true,
            cell: ({ place }: FigureRow) => cell(one, place),
          })),
          ...(look === "bars" && series.length > 1
            ? [{ title: "Total", figure: true, cell: ({ place }: FigureRow) => SAID[unit](sumAt(series, place)) }]
            : []),
        ]}
      />
    </div>
  );
}
