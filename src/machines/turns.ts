import type { PreparedTurn, TurnUse } from '../protocol/bridge/turns.ts'
import type { AgentContext, EventOfType, UseEvent } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import type { PrepareInput, TakenTools, TurnDecision, TakenMemory } from './effectTypes.ts'

/** Key of the preparation of the current turn. */
export const prepareKey = ({ agentId, turns }: AgentContext): string => `${agentId}/t${turns - 1}/prepare`

/** Returns the input for the preparation of the turn that has just begun. */
export function prepareInput(context: AgentContext): PrepareInput {
  const { agentId, turns, frame } = context
  const { runId, turns: turn, usage, costUsd, childTurns, limits, lastStopReason, answer } = context.run!
  return {
    agentId,
    key: prepareKey(context),
    runId,
    turnIndex: turns - 1,
    turn,
    spent: { usage, costUsd, turns: turn - 1 + childTurns },
    limits,
    ...(turn === 1 ? {} : { lastStopReason }),
    use: frame?.use ?? null,
    ...(answer?.isAsked === true ? { limit: answer.limit } : {}),
  }
}

/** Records the values that the agent is asked to use, which hold from the next turn on. */
export function changeUse(draft: Draft, { id: requestId, use: change }: EventOfType<'use'>): void {
  const use = change === null ? null : changed(draft.context.frame?.use ?? {}, change)
  draft.record({ type: 'use.changed', ...draft.at, requestId, use })
}

function changed(before: TurnUse, change: UseEvent): TurnUse | null {
  const fields = Object.entries({ ...before, ...change }).filter(([, value]) => value != null)
  return fields.length === 0 ? null : (Object.fromEntries(fields) as TurnUse)
}

/** Records a change of the tools that the sources offer, and applies it. */
export function takeTools(draft: Draft, tools: TakenTools | undefined): void {
  if (tools === undefined) return
  if (tools.change !== undefined) draft.record({ type: 'tools.changed', ...draft.at, ...tools.change })
  draft.set({ policy: tools.policy })
}

/** Records the parameters of the turn, unless they are the definition's. */
export function prepareTurn(draft: Draft, decision: TurnDecision = { by: [] }): void {
  const { frame, run } = draft.context
  const use = frame?.use ?? null
  const limit = run?.answer?.isAsked === true ? run.answer.limit : undefined
  const by = (['instructions', 'use', 'beforeTurn', 'limit'] as const).filter((one) => {
    if (one === 'use') return use !== null
    return one === 'limit' ? limit !== undefined : decision.by.includes(one)
  })
  if (by.length === 0) return
  const tools = limit === undefined ? (decision.tools ?? use?.tools) : []
  const model = decision.model ?? use?.model
  const prepared: PreparedTurn = {
    by,
    ...shownInstructions(decision.instructions ?? use?.instructions, frame?.instructions),
    ...(tools === undefined ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
    ...(decision.settings === undefined ? {} : { settings: decision.settings }),
    ...(limit === undefined ? {} : { limit }),
  }
  draft.record({ type: 'turn.prepared', ...draft.at, ...prepared })
}

/** Returns the instructions for the record; those already in the log are not repeated with every turn. */
function shownInstructions(
  instructions: string | undefined,
  last: string | null | undefined,
): Pick<PreparedTurn, 'instructions' | 'sameInstructions'> {
  if (instructions === undefined) return {}
  return instructions === last ? { sameInstructions: true } : { instructions }
}

/** Records the additions to the agent's memory, and adds the memories for the turn to the conversation, after people's messages. */
export function takeMemory(draft: Draft, memory: TakenMemory | undefined): void {
  if (memory === undefined) return
  const { recalled, extracted } = memory
  if (extracted !== undefined) draft.record({ type: 'memory.extracted', ...draft.at, ...extracted })
  for (const { content, provenance } of recalled) {
    const stamp = provenance === undefined ? {} : { provenance }
    const message = { role: 'user', content, source: 'prompt', ...stamp } as const
    draft.record({ type: 'message.added', ...draft.at, ...draft.place(), message })
  }
}
