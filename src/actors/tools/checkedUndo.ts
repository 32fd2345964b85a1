import { z } from 'zod'
import { describeIssues } from '../../protocol/errors.ts'
import type { ToolEffects, UndoContext } from './defineTool.ts'
import type { ReadSchema } from './toolSchema.ts'

interface UndoParts {
  readonly run?: unknown
  readonly effects?: ToolEffects
  readonly undo?: unknown
  readonly receipt?: unknown
}

/** Returns what is wrong with the options about undoing; `undefined` if nothing is. */
export function wrongInUndo({ run, effects, undo, receipt }: UndoParts): string | undefined {
  if (run === undefined && (undo ?? receipt) !== undefined) return 'what a client does it cannot undo: leave "undo" out'
  if (effects === 'reversible' && undo === undefined)
    return "its effects are 'reversible': say how a call is undone, undo: ({ input, receipt }) => …"
  if (effects !== 'reversible' && undo !== undefined)
    return `it has undo, but its effects are ${effects === undefined ? 'not said' : `'${effects}'`}: declare effects: 'reversible'`
  return receipt !== undefined && undo === undefined ? 'it has a receipt, but no undo that takes it' : undefined
}

/** `undo` as a tool is given it. */
export type UndoOption = (context: UndoContext) => void | Promise<void>

/** Returns an `undo` that takes the input and receipts of the log, and checks them. */
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
