/** A program: chooses an interpreter on the copy of XState that it is given, as a runtime does, and compares plans with it in any case. */
import { registerHooks } from 'node:module'

/** Its standard output, read as JSON. */
export interface OnXState {
  readonly version: string
  readonly chosen: 'planned' | 'xstate'
  readonly warnings: readonly string[]
  /** The first difference of plans from that copy. */
  readonly difference: string | null
}

const copy = process.argv[2]!
registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(/^xstate(?=\/|$)/, copy), context),
})

const { compareWithXState, interpretBy } =
  await import('../../packages/runtime/src/interpreter/differenceFromXState.ts')
const { plannedInterpreter } = await import('../../src/runtime/interpreter/interpreter.ts')
const { xstateVersion: version } = await import('../../packages/runtime/src/interpreter/testedXState.ts')

const warnings: string[] = []
const other = (): void => {}
const warn = (_fields: object, message: string): void => void warnings.push(message)
const interpreter = interpretBy('planned', { debug: other, info: other, warn, error: other })
const report: OnXState = {
  version,
  chosen: interpreter === plannedInterpreter ? 'planned' : 'xstate',
  warnings,
  difference: compareWithXState(plannedInterpreter) ?? null,
}
process.stdout.write(JSON.stringify(report))
