import { Component, type ReactNode } from "react";

/** An error boundary: shows a replacement if rendering fails. */
export class Attempt extends Component<{ readonly instead: ReactNode; readonly children: ReactNode }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
