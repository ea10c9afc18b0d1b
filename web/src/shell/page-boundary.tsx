import { Component, type ReactNode } from "react";
import { Problem } from "../parts/failure/problem.tsx";
import { isAway, onServerChange } from "../server-watch.ts";

interface Props {
  /** Where one is: another page is another try. */
  readonly at: string;
  readonly children: ReactNode;
}

interface State {
  readonly thrown?: unknown;
}

/**
 * A page that breaks says so, and the others stay. One whose files a newer server has replaced, or could not be loaded
 * while the server was away, is loaded again.
 */
export class PageBoundary extends Component<Props, State> {
  override state: State = {};
  #leave: (() => void) | undefined;

  static getDerivedStateFromError(thrown: unknown): State {
    return { thrown };
  }

  override componentDidMount(): void {
    this.#leave = onServerChange(() => {
      if (!isAway() && this.state.thrown !== undefined) location.reload();
    });
  }

  override componentDidUpdate({ at }: Props): void {
    if (at !== this.props.at && this.state.thrown !== undefined) this.setState({ thrown: undefined });
  }

  override componentWillUnmount(): void {
    this.#leave?.();
  }

  override render(): ReactNode {
    if (this.state.thrown === undefined) return this.props.children;
    return (
      <div className="mx-auto max-w-2xl p-6">
        <Problem title="This page could not be shown" thrown={this.state.thrown} onRetry={() => location.reload()} />
      </div>
    );
  }
}
