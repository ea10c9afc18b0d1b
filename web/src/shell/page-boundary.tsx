import { Component, type ReactNode } from "react";
import { Problem } from "../parts/failure/problem.tsx";
import { isAway, onServerChange } from "../server-watch.ts";

interface Props {
  /** The current path: navigating elsewhere clears the error. */
  readonly at: string;
  readonly children: ReactNode;
}

interface State {
  readonly thrown?: unknown;
}

/**
 * Contains the error of one page. A page whose files are missing, because the server was updated or away, is reloaded.
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
        <Problem title="Could not show this page" thrown={this.state.thrown} onRetry={() => location.reload()} />
      </div>
    );
  }
}
