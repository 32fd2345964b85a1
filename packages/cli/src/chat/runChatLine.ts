import { lastPrompt, promptAgain } from '../../../sessions/src/promptAgain.ts'
import { formatNodeId } from '../../../../src/protocol/ids.ts'
import type { Run } from '../../../../src/protocol/runs/run.ts'
import { decideCall, isWaiting, type ChatAbout, type ChatAgent, type ChatConversation } from './chatAgent.ts'
import type { AgentLine } from './slashCommands.ts'
import { savedWords } from '../../../charts/src/savingsWords.ts'
import { spentWords } from '../terminal/sessionText.ts'

/**
 * The result of a line: a note or a conversation to print, the run it started, and a promise that resolves once an agent at rest has decided on the
 * request.
 */
export interface LineResult {
  readonly note?: string
  readonly conversation?: ChatConversation
  readonly run?: Run
  readonly decided?: Promise<void>
}

type LineActions = {
  readonly [T in AgentLine['type']]: (
    agent: ChatAgent,
    line: Extract<AgentLine, { type: T }>,
    about: ChatAbout,
  ) => Promise<LineResult>
}

async function decide(agent: ChatAgent, decision: 'approve' | 'deny', reason?: string): Promise<LineResult> {
  const call = agent.pending().find(({ kind }) => kind === 'approval')
  if (call === undefined) return { note: 'no call is waiting for approval' }
  await decideCall(agent, call, decision, reason)
  return { note: `${decision === 'approve' ? 'allowed' : 'denied'}: ${call.name}` }
}

type Answer =
  | 'prune.applied'
  | 'graft.applied'
  | 'revert.applied'
  | 'undo.end'
  | 'compaction.end'
  | 'pin.applied'
  | 'policy.end'

/** Requests a change of the model's view. An event reports the outcome. */
async function reshape(agent: ChatAgent, answer: Answer, ask: () => Promise<void> | void): Promise<LineResult> {
  if (agent.state !== 'idle') {
    await ask()
    return { note: 'queued: it is done before the next step' }
  }
  const answered = Promise.withResolvers<void>()
  const unsubscribe = agent.subscribe((event) => {
    const isPaused = event.type === 'state.changed' && /^(paused|stopped)$/.test(event.state)
    // One that is refused undoes nothing.
    const isRefused = event.type === 'revert.applied' && !event.applied
    if ((event.type === answer || isRefused || isPaused) && event.agentId === agent.id) answered.resolve()
  })
  const decided = answered.promise.then(unsubscribe)
  try {
    await ask()
  } catch (thrown) {
    answered.resolve()
    throw thrown
  }
  return { decided }
}

const lineActions: LineActions = {
  async steer(agent, { text }) {
    await agent.steer(text)
    return { note: 'queued for the next step' }
  },
  async followUp(agent, { text }) {
    await agent.followUp(text)
    return { note: 'queued until the agent finishes' }
  },
  async abort(agent) {
    if (agent.state === 'idle') return { note: 'nothing is running' }
    await agent.abort()
    return {}
  },
  resume: async (agent) => ({ run: agent.resume() }),
  approve: (agent) => decide(agent, 'approve'),
  deny: (agent, { reason }) => decide(agent, 'deny', reason),
  prune: (agent, { type: _, ...options }) => reshape(agent, 'prune.applied', () => agent.prune(options)),
  fold: (agent) => reshape(agent, 'prune.applied', () => agent.fold()),
  graft: (agent, { steps }) => reshape(agent, 'graft.applied', () => agent.graft(steps)),
  revert: (agent, { type: _, step, ...options }) =>
    reshape(agent, options.undo === true ? 'undo.end' : 'revert.applied', () => agent.revert(step, options)),
  compact: (agent, { type: _, ...options }) => reshape(agent, 'compaction.end', () => agent.compact(options)),
  brake: (agent, { policy }) => reshape(agent, 'policy.end', () => agent.brake(policy)),
  async use(agent, { use }) {
    await agent.use(use)
    return { note: use === null ? 'reset to the definition, from the next turn on' : 'used from the next turn on' }
  },
  async mode(agent, { mode }) {
    await agent.setMode(mode)
    return {}
  },
  async undo(agent, { why }, about) {
    const trunk = (await about.conversation()).trunk()
    const prompt = lastPrompt(trunk)
    if (prompt === undefined) return { note: 'no messages yet' }
    // A revert never abandons what a person said.
    if (prompt === trunk.at(-1))
      return { note: 'nothing to undo since your last message; /fork starts a new session from an earlier step' }
    return reshape(agent, 'undo.end', () =>
      agent.revert(formatNodeId(prompt.id), {
        category: 'failure',
        undo: true,
        ...(why === undefined ? {} : { summary: why }),
      }),
    )
  },
  async retry(agent, _, about) {
    if (!isWaiting(agent)) return { note: 'the agent is running; /abort stops it' }
    if (agent.hasFailed) return { run: agent.resume() }
    const said = promptAgain((await about.conversation()).trunk())
    if (said === undefined) return { note: 'no messages yet' }
    const { content, ...from } = said
    return { run: agent.prompt(content, from) }
  },
  tree: async (_, __, about) => ({ conversation: await about.conversation() }),
  async cost(_, __, about) {
    const [spent, savings] = await Promise.all([about.spent(), about.savings?.()])
    const saved =
      savings === undefined || savings.brakes.length === 0 ? '' : `\nsaved by brakes: ${savedWords(savings)}`
    return { note: `${spentWords(spent)}${saved}` }
  },
  async fork(_, { at }, { fork, conversation }) {
    if (fork === undefined) return { note: 'forking is not available here; see: escapement help fork' }
    const newest = (await conversation()).trunk().at(-1)
    const step = at ?? (newest === undefined ? undefined : formatNodeId(newest.id))
    return step === undefined ? { note: 'no messages yet' } : { note: `forked at ${step}: ${await fork(step)}` }
  },
  pin: (agent, { step }) => reshape(agent, 'pin.applied', () => agent.pin(step)),
  unpin: (agent, { step }) => reshape(agent, 'pin.applied', () => agent.unpin(step)),
}

/** Executes a line that the agent handles. Rejects with the error that the agent throws. */
export const runChatLine = (agent: ChatAgent, line: AgentLine, about: ChatAbout): Promise<LineResult> =>
  (lineActions[line.type] as (agent: ChatAgent, line: AgentLine, about: ChatAbout) => Promise<LineResult>)(
    agent,
    line,
    about,
  )
