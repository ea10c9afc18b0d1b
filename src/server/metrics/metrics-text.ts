export type Labels = Readonly<Record<string, string | number>>;

/** A metric with one value, or several with different labels. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
  /** For a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
}

export const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Formats metrics in the Prometheus text format. */
export function metricsText(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ labels = {}, value, suffix = "" }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`,
      );
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
    })
    .join("");
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(String(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(text: string): string {
  return text
    .replaceAll("\\", String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll("\n", String.raw`\n`);
}

function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  return String(value);
}

/** Counts how many values are within each bound. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds` in ascending order; an infinite one is added. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at >= 0) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  samples(): Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return { suffix: "_bucket", labels: { le: bound }, value: below };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { le: "+Inf" }, value: this.#count },
      { suffix: "_sum", value: this.#sum },
      { suffix: "_count", value: this.#count },
    ];
  }
}
