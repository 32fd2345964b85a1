import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { z } from 'zod'
import type { AgentPorts } from '../../../src/actors/agentPorts.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { UndoContext } from '../../../src/actors/tools/checkedUndo.ts'
import { BoundCall } from '../../../src/actors/tools/boundCall.ts'
import { defineTool, type Tool } from '../../../src/actors/tools/defineTool.ts'
import type { InnerCalls } from '../../../src/actors/tools/innerCalls.ts'
import type { ToolContext } from '../../../src/actors/tools/toolContext.ts'
import { RemoteCall, type KeptOfTask } from './remoteCall.ts'
import type { RemoteAgentEntry } from '../../../src/actors/parts/remote/remoteEntry.ts'
import type { RemoteAgentSpec } from './remoteAgent.ts'

/** Returns the entry of a remote agent. */
export const remoteAgent = (spec: RemoteAgentSpec): RemoteAgentEntry =>
  Object.freeze({ protocol: spec.protocol, name: spec.name, tool: remoteTool(spec) })

/** Returns the tool by which a model calls a remote agent. A call that was cut off continues its task. */
function remoteTool(entry: RemoteAgentSpec): Tool {
  const { name, description = '', input, limits, asks, undo } = entry
  const tool = defineTool({
    name,
    description: description || `Gives a task to the agent "${name}" and returns its answer.`,
    input: onlyFields({
      task: z
        .string()
        .refine((task) => task.trim() !== '', 'say what is to be done')
        .describe('What is to be done, with everything the agent must know: it does not see this conversation.'),
      ...input?.shape,
    }),
    // A call that runs again finds the task that it has begun.
    ...(undo === undefined ? ({ effects: 'idempotent' } as const) : undoing(undo)),
    timeoutMs: limits?.ms ?? Infinity,
    run: (given, context) =>
      new BoundCall((ports: AgentPorts, signal, calls) =>
        answer(entry, given, { ports, signal, calls: calls(), context }),
      ),
  })
  return Object.freeze({ ...tool, asks: asks ?? [] })
}

const keptSchema = lazily(() => z.object({ kept: z.array(z.unknown()), isPartial: z.boolean() }).optional())

const undoing = (undo: NonNullable<RemoteAgentSpec['undo']>) => ({
  effects: 'reversible' as const,
  receipt: keptSchema(),
  undo: async (context: UndoContext<unknown, KeptOfTask | undefined>): Promise<void> => {
    const { receipt } = context
    if (receipt === undefined) throw new Error('it is not known what it did by itself')
    if (receipt.isPartial)
      throw new Error('it was interrupted, or did more than is kept: it is not known what all it did')
    await undo(receipt.kept, context)
  },
})

interface Bound {
  readonly ports: AgentPorts
  readonly signal: AbortSignal
  readonly calls: InnerCalls
  readonly context: ToolContext
}

async function answer(
  entry: RemoteAgentSpec,
  { task, ...others }: { readonly task: string; readonly [field: string]: unknown },
  bound: Bound,
): Promise<string> {
  const data = Object.keys(others).length === 0 ? '' : `\n\n${JSON.stringify(others, null, 2)}`
  const answered = await new RemoteCall(entry, bound).answer(task + data)
  if (answered.isError === true) throw new Error(answered.text)
  if (answered.data !== undefined) bound.context.give(answered.data)
  return answered.text || '(no answer)'
}
