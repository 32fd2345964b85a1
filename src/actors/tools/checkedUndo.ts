import { z } from 'zod'
import { describeIssues } from '../../protocol/errors.ts'
import type { Snapshots } from '../../protocol/ports/snapshots.ts'
import type { Closable } from './toolContext.ts'
import type { ReadSchema } from './toolSchema.ts'

/**
 * Effects that a call may have: they decide whether it may run again when it is not known whether it finished, and whether it can be
 * undone.
 */
export type ToolEffects = 'none' | 'idempotent' | 'reversible' | 'irreversible'

/** Context that a tool's `undo` receives. */
export interface UndoContext<Input = unknown, Receipt = unknown, out Deps = unknown> {
  /** Arguments of the call, as the log has them: secrets that `redact` names are blanked. */
  readonly input: Input
  /** Receipt that the call kept; `undefined` if it kept none. */
  readonly receipt: Receipt
  /** Receipts of older calls on the same thing that are undone as well, newest first. */
  readonly earlier: readonly Receipt[]
  /** Value that the application gives to the run that undoes the call, or to the agent between runs. */
  readonly deps: Deps
  /** Aborted when the run is aborted, the agent stops or the undoing times out. */
  readonly signal: AbortSignal
  readonly callId: string
  /** Deterministic id of this undoing, the same on every attempt. */
  readonly key: string
  readonly snapshots: Snapshots
  readonly agent: { readonly id: string; readonly path: readonly string[] }
  /** Same as in the context of `run`. */
  closeWith(resource: Closable, of: 'agent' | 'runtime'): boolean
}

interface UndoParts {
  readonly run?: unknown
  readonly effects?: ToolEffects
  readonly undo?: unknown
  readonly receipt?: unknown
}

/** Returns the problem with the options about undoing; `undefined` if there is none. */
export function wrongInUndo({ run, effects, undo, receipt }: UndoParts): string | undefined {
  if (run === undefined && (undo ?? receipt) !== undefined) return 'what a client does it cannot undo: leave "undo" out'
  if (effects === 'reversible' && undo === undefined)
    return "its effects are 'reversible': say how a call is undone, undo: ({ input, receipt }) => …"
  if (effects !== 'reversible' && undo !== undefined)
    return `it has undo, but its effects are ${effects === undefined ? 'not said' : `'${effects}'`}: declare effects: 'reversible'`
  return receipt !== undefined && undo === undefined ? 'it has a receipt, but no undo that takes it' : undefined
}

/** The option `undo` of a tool. */
export type UndoOption = (context: UndoContext) => void | Promise<void>

/** Returns an `undo` that takes the input and receipts from the log, and checks them. */
export const checkedUndo =
  (undo: UndoOption, { parse, finish }: Pick<ReadSchema, 'parse' | 'finish'>, receipt: z.ZodType = z.unknown()) =>
  async (context: UndoContext): Promise<void> => {
    const input = parse(context.input)
    if (!input.ok) throw new Error(`its arguments no longer fit its tool. ${input.message}`)
    const kept = [context.receipt, ...context.earlier].map((one) => receipt.safeParse(one))
    const bad = kept.find(({ success }) => !success)
    if (bad?.error !== undefined) throw new Error(`what it kept no longer fits its tool: ${describeIssues(bad.error)}`)
    const [own, ...earlier] = kept.map(({ data }) => data)
    await undo({ ...context, input: await finish(input.value), receipt: own, earlier })
  }
