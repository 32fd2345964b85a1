import { isWait } from '../../../../src/protocol/runs/waits.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import { ofProgram } from '../../../../src/protocol/asked.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { awaitsDecision } from '../../../../src/runtime/agents/agentTree.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import { mustBeOf } from '../../../bridge/src/server/oneDefinition.ts'
import { outwardEvent } from '../../../bridge/src/server/outwardError.ts'
import type { AgentTool, Wanted } from './agentTool.ts'
import { followRun } from './followRun.ts'
import { decideBy, type Answers, type Taken } from './people.ts'

/** Client that makes the call, with its access. */
export interface Caller {
  readonly access: AgentAccess
  /** Aborted when the client no longer wants the answer, or is gone. */
  readonly signal: AbortSignal
  /** Returns true if the run has to be aborted too; called once `signal` is aborted. */
  isCancelled(): boolean
  /** Takes the id of the session before anything happens in it, because the client may have left when the answer is ready. */
  began(session: string): void
  /** Takes each event of the agent and of those below it. */
  tell(event: AgentEvent): void
}

/** A session, and the request of the run that a call waits for; `undefined` for the current run. */
export interface Place {
  readonly session: string
  readonly requestId: string | undefined
}

/** Outcome of a call, or of a part of it. */
export type Outcome = Place &
  (
    | { readonly type: 'over'; readonly result: RunResult | undefined }
    /** Set if nothing can continue before people decide. */
    | { readonly type: 'waiting'; readonly agent: DrivenAgent; readonly pending: readonly Pending[] }
  )

/**
 * Gives the agent its task, or follows its run, and resolves with the outcome. Rejects with `BRIDGE_FORBIDDEN`,
 * `AGENT_NOT_FOUND`, `INVALID_OPTION`, and what `Agent.dispatch` throws. `mayAsk`: people can be asked through this client.
 */
export async function callAgent(
  tool: AgentTool,
  wanted: Exclude<Wanted, { type: 'wrong' }>,
  caller: Caller,
  mayAsk: boolean,
): Promise<Outcome> {
  const { access } = caller
  access.must('talk', 'tools/call')
  const agent =
    wanted.session === undefined
      ? await access.begin(tool.definition.name)
      : await sessionOf(tool, wanted.session, access)
  const session = agent.id
  // The task would wait in the queue, and run when nobody waits for its answer any more.
  if (!mayAsk && awaitsDecision(agent))
    return { type: 'waiting', session, requestId: undefined, agent, pending: agent.pending() }
  const requestId = access.newId()
  if (wanted.type === 'task') {
    const content = wanted.text
    const prompt = { type: 'agent.prompt', agentId: session, content, provenance: ofProgram } as const
    const run = agent.dispatch(prompt, { requestId })!
    return await outcomeOf(agent, { session, requestId }, () => run.result, caller)
  }
  // To who may not have it go on, it is told how it stands.
  if (agent.pause !== null && !isWait(agent.pause) && access.may('control')) {
    const run = agent.dispatch({ type: 'agent.resume', agentId: session }, { requestId })!
    return await outcomeOf(agent, { session, requestId }, () => run.result, caller)
  }
  return await goOn(agent, tool, { session, requestId: undefined }, caller)
}

/** Passes on answers that people gave through the client, and resolves with the outcome of the run. Rejects as `callAgent` does. */
export async function answerAgent(
  tool: AgentTool,
  { session, requestId }: Place,
  given: Answers,
  caller: Caller,
): Promise<Outcome & { readonly taken: Taken }> {
  const { access } = caller
  access.must('talk', 'tools/call')
  const agent = await sessionOf(tool, session, access)
  const taken = await decideBy(agent, given, access)
  return { ...(await goOn(agent, tool, { session, requestId }, caller)), taken }
}

/** Resolves with a session. Rejects with `AGENT_NOT_FOUND`, or `INVALID_OPTION` for a session of another definition. */
export async function sessionOf(
  { definition: { name } }: AgentTool,
  session: string,
  access: AgentAccess,
): Promise<DrivenAgent> {
  const agent = await access.driven(session)
  if (agent.path.length > 0)
    throw new RuntimeError('AGENT_NOT_FOUND', `Agent "${session}" is a sub-agent: a session is a root agent.`)
  mustBeOf(name, 'session', agent)
  return agent
}

const goOn = (agent: DrivenAgent, { definition }: AgentTool, place: Place, caller: Caller): Promise<Outcome> =>
  outcomeOf(
    agent,
    place,
    (signal) => followRun({ access: caller.access, agent, definition }, place.requestId, signal),
    caller,
  )

/** Resolves once the run is over, people have to decide before anything continues, or the client has left. */
async function outcomeOf(
  agent: DrivenAgent,
  place: Place,
  resultOf: (signal: AbortSignal) => Promise<RunResult | undefined>,
  { signal, isCancelled, began, tell }: Caller,
): Promise<Outcome> {
  began(agent.id)
  const done = new AbortController()
  const stopped = Promise.withResolvers<'waiting' | 'left'>()
  const look = (): void => {
    if (awaitsDecision(agent)) stopped.resolve('waiting')
  }
  const leave = (): void => {
    if (isCancelled()) abort(agent, place.requestId)
    stopped.resolve('left')
  }
  const unsubscribe = agent.subscribe(
    (event) => {
      if (event.incognito !== true) tell(outwardEvent(event))
      // The last event of a step.
      if (event.type === 'state.changed') look()
    },
    { descendants: true },
  )
  signal.addEventListener('abort', leave, { once: true })
  try {
    if (signal.aborted) leave()
    look()
    const ended = await Promise.race([resultOf(done.signal), stopped.promise])
    if (ended === 'waiting') return { type: 'waiting', ...place, agent, pending: agent.pending() }
    return { type: 'over', ...place, result: ended === 'left' ? undefined : ended }
  } finally {
    // An answered request is torn down too, which aborts its signal: the session's next run must not hear of that.
    signal.removeEventListener('abort', leave)
    unsubscribe()
    done.abort()
  }
}

/** Aborts only this run. A call without a run of its own aborts nothing. */
function abort(agent: DrivenAgent, run: string | undefined): void {
  if (run === undefined) return
  try {
    agent.dispatch({ type: 'agent.abort', agentId: agent.id, run })
  } catch (thrown) {
    // It has ended: there is nothing to abort.
    if (!(thrown instanceof RuntimeError)) throw thrown
  }
}
