import { effectsIn, type CallEffects } from '../../protocol/callEffects.ts'
import type { ToolResultMessage } from '../../protocol/messages.ts'
import type { RecordOf } from '../../protocol/records.ts'
import type { Evidence } from '../../protocol/braking.ts'
import type { Reshaped } from './reshaped.ts'

type Found = CallEffects & Pick<ToolResultMessage, 'synthetic'>

/** Notes a call that works in the background from its receipt on. */
export function beginWork(
  conversation: Pick<Reshaped, 'annotate'>,
  id: string | undefined,
  { nodeId, message, foreign }: RecordOf<'tool.end'>,
  stepId: number,
): void {
  if (id !== undefined && !message.isError && foreign !== true) conversation.annotate().work(id, { nodeId, stepId })
}

/**
 * Adds the effects of a background call to its receipt, where reverts, undoing and names look for them. The model reads
 * the report, which is a message; the text of the receipt stays.
 */
export function endWork(conversation: Reshaped, record: RecordOf<'call.reported'>): void {
  const { id, isError, receipt, ended } = record
  fill(
    conversation,
    id,
    {
      ...effectsIn(record),
      ...(ended === undefined ? {} : { synthetic: ended === 'interrupted' ? 'interrupted' : 'aborted' }),
    },
    isError && receipt === undefined && ended === undefined,
  )
}

/** Ends the background calls of an abandoned branch, of which nothing more comes. */
export function abandonWork(conversation: Reshaped, { background = [] }: Evidence): void {
  for (const { id, aborted } of background) if (aborted) fill(conversation, id, { synthetic: 'aborted' }, false)
}

/** Completes the receipt of a call that has ended. `isVoid`: the call has failed, and kept nothing to undo. */
function fill(conversation: Reshaped, id: string, found: Found, isVoid: boolean): void {
  const nodeId = conversation.annotations?.endWork(id)
  const node = nodeId === undefined ? undefined : conversation.node(nodeId)
  if (node === undefined) return
  const { reversible } = node
  Object.assign(node, { message: { ...node.message, ...found } })
  if (isVoid && reversible !== undefined) Object.assign(node, { reversible: { ...reversible, isUndone: true } })
  conversation.tree.touch(node.id)
}
