import { fromPromise, type AnyActorLogic } from 'xstate'
import { RuntimeError } from '../protocol/errors.ts'

/** Stands in for an effect until the runtime provides it, so that a chart can be drawn and explored without effects. */
export const placeholder = <Output, Input>(src: string) =>
  fromPromise<Output, Input>(() => Promise.reject(missing([src])))

const missing = (names: readonly string[]): RuntimeError =>
  new RuntimeError('EFFECTS_MISSING', `Nobody provided these effects of the machine: ${names.join(', ')}.`)

/** Throws `EFFECTS_MISSING` if a machine that is about to run still has placeholders: it would silently do nothing. */
export function checkEffects(
  machine: { readonly implementations: { readonly actors: unknown } },
  placeholders: Readonly<Record<string, unknown>>,
): void {
  const provided = machine.implementations.actors as Readonly<Record<string, AnyActorLogic | undefined>>
  const names = Object.keys(placeholders).filter((src) => provided[src] === placeholders[src])
  if (names.length > 0) throw missing(names)
}
