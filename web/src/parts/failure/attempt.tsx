import { Component, type ReactNode } from "react";

/** What cannot be shown after all takes nothing with it. */
export class Attempt extends Component<{ readonly instead: ReactNode; readonly children: ReactNode }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.instead : this.props.children;
  }
}
