import type { BrakeCall } from '../../machines/effectTypes.ts'

/** Result of a brake tool: a request for the drain, and the text of its result, read only if the drain refuses. */
export class BrakeCallResult {
  readonly call: BrakeCall
  readonly text: string

  constructor(call: BrakeCall, text: string) {
    this.call = call
    this.text = text
  }
}
