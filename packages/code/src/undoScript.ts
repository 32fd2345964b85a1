import { z } from 'zod'
import type { AnyTool } from '../../../src/actors/tools/defineTool.ts'
import { messageOf } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { InnerReceipt } from '../../../src/protocol/parts/inner/innerState.ts'

const receiptSchema = lazily(() =>
  z.object({
    undo: z.array(
      z.object({
        n: z.int(),
        name: z.string(),
        input: z.unknown(),
        of: z.string().exactOptional(),
        receipt: z.unknown(),
      }),
    ),
    left: z.array(z.string()),
  }),
)

/**
 * Undoes the calls of a script, newest first. Calls on the same resource are undone together. Rejects with the calls
 * that stay: calls without undo, and those whose undo failed. `toolOf`: the tools of the agent, also those of sources.
 */
export const undoScript: NonNullable<AnyTool['undo']> = async (context, toolOf) => {
  const { undo, left }: InnerReceipt = receiptSchema().parse(context.receipt)
  const stays = [...left]
  const groups = Map.groupBy(undo, ({ n, of }) => of ?? n)
  for (const [newest, ...earlier] of groups.values()) {
    const { n, name, input, receipt, of } = newest!
    try {
      context.signal.throwIfAborted()
      const tool = toolOf?.(name)
      if (tool?.undo === undefined) throw new Error('there is no tool any more that could undo it')
      await tool.undo({
        ...context,
        input,
        receipt,
        earlier: earlier.map((one) => one.receipt),
        callId: `${context.callId}/${n}`,
        key: `${context.key}/c${n}`,
      })
    } catch (thrown) {
      stays.push(`${of ?? name}: ${messageOf(thrown)}`)
    }
  }
  if (stays.length > 0) throw new Error(`of what it did, this stays: ${stays.join('; ')}`)
}
