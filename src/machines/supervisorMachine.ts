import { setup, type ActorLogic, type Snapshot } from 'xstate'
import { errorInfo, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { mayRestart, restartAt } from '../protocol/runs/restarts.ts'
import type { AgentInput } from './agentTypes.ts'
import type { CallOutput, SleepInput, SubAgentInput } from './effectTypes.ts'
import { changeAction, type MakeChange } from './change.ts'
import { placeholder } from './placeholder.ts'
import type { OpenInput, OpenOutput, SupervisorContext, SupervisorEvent, WatchOutput } from './supervisorTypes.ts'

/** Logic of the agent machine, which contains this machine again; filled in once both are made. */
type AgentLogic = ActorLogic<Snapshot<unknown>, { readonly type: 'abort' | 'stop' | 'close' }, AgentInput>

type Done<Output> = { readonly output: Output }

/** Id of the chart, including its version. */
export const supervisorMachineId = 'supervisor@1'

const failed = (call: SubAgentInput, error: ErrorInfo): CallOutput => ({
  key: call.key,
  content: [{ type: 'text', text: error.message }],
  isError: true,
  tokens: 0,
  at: 0,
  error,
})

const outputOf = <Output>(event: unknown): Output => (event as Done<Output>).output

const supervisorSetup = setup({
  types: {
    context: {} as SupervisorContext,
    events: {} as SupervisorEvent,
    input: {} as SubAgentInput,
    output: {} as CallOutput,
  },
  actors: {
    openChild: placeholder<OpenOutput, OpenInput>('openChild'),
    watchChild: placeholder<WatchOutput, OpenInput>('watchChild'),
    sleep: placeholder<SleepInput, SleepInput>('sleep'),
    agent: placeholder('agent') as unknown as AgentLogic,
  },
  guards: {
    /** True if a call waits for the agent, which then ends when it is aborted. */
    isCalled: ({ context }) => context.call.callId !== null,
    isOpened: ({ event }) => outputOf<OpenOutput>(event).ok,
    mayRestart: ({ context, event }) => {
      const watched = outputOf<WatchOutput>(event)
      return watched.type === 'crashed' && !context.isAborted && mayRestart(context.policy, context.crashes, watched.at)
    },
    mayBeginAnew: ({ context, event }) => {
      const watched = outputOf<WatchOutput>(event)
      const isAttached = context.call.callId === null && context.policy?.restart === 'permanent'
      if (watched.type !== 'ended' || context.isAborted || !isAttached || watched.output.stopped === true) return false
      return mayRestart(context.policy, context.crashes, watched.at)
    },
    isCrash: ({ event }) => outputOf<WatchOutput>(event).type === 'crashed',
  },
})

/** Commits the change of the context that a plain function makes. */
const update = <E = unknown>(change: MakeChange<SupervisorContext, E>) =>
  changeAction<SupervisorContext, SupervisorEvent>(supervisorSetup.enqueueActions, change)

const fail = update<{ readonly error: unknown }>((context, { error }) => ({
  context: { ...context, output: failed(context.call, toErrorInfo(error, 'INTERNAL')) },
}))

const keepOutput = update<Done<WatchOutput>>((context, { output: { output } }) => ({ context: { ...context, output } }))

const startOver = update<Done<WatchOutput>>((context, { output: { at, output } }) => {
  // No more than the allowed number is ever looked at.
  const kept = Math.max(1, context.policy?.maxRestarts ?? 0)
  const crashes = [...context.crashes, at].slice(-kept)
  return { context: { ...context, crashes, retryAt: restartAt(context.policy, context.crashes, at), output } }
})

/**
 * Runs the agent so that the whole tree can find it by its id, with `system.get(agentId)`. Done by an action, because
 * the `systemId` of an `invoke` would be the same for all. An id can only be taken if a store hands out a log twice.
 */
const runAgent = update((context) => ({
  context,
  children: [{ type: 'start', src: 'agent', id: 'agent', input: context.agent, systemId: context.call.childId }],
}))

const stopAgent = update((context) => ({ context, children: [{ type: 'stop', id: 'agent' }] }))

const tellAgent = update<SupervisorEvent & { readonly type: 'abort' | 'stop' | 'close' }>((context, { type }) => ({
  context: { ...context, isAborted: context.isAborted || type !== 'abort' || context.call.callId !== null },
  children: [{ type: 'tell', id: 'agent', event: { type } }],
}))

/**
 * Supervises one sub-agent: opens it, runs it as a child actor, and restarts it from its log after a crash, as often
 * as its policy allows. Then gives it up with an error. Pure, like the agent machine.
 */
export const supervisorMachine = supervisorSetup.createMachine({
  id: supervisorMachineId,
  context: ({ input }) => ({
    call: input,
    agent: null,
    policy: null,
    crashes: [],
    lives: 0,
    isAborted: false,
    retryAt: 0,
    output: failed(input, errorInfo('ABORTED', 'The sub-agent was aborted before it began.')),
  }),
  output: ({ context }) => context.output,
  // An error that no transition takes would end the machine.
  on: { 'xstate.error.actor.*': {} },
  initial: 'opening',
  states: {
    opening: {
      invoke: {
        src: 'openChild',
        id: 'open',
        input: ({ context }) => ({ ...context.call, life: context.lives }),
        onDone: [
          {
            guard: 'isOpened',
            target: 'running',
            actions: update<Done<Extract<OpenOutput, { ok: true }>>>((context, { output: { agent, policy } }) => ({
              context: { ...context, agent, policy, lives: context.lives + 1 },
            })),
          },
          {
            target: 'ended',
            actions: update<Done<Extract<OpenOutput, { ok: false }>>>((context, { output: { output } }) => ({
              context: { ...context, output },
            })),
          },
        ],
        onError: { target: 'ended', actions: fail },
      },
      on: { abort: { guard: 'isCalled', target: 'ended' }, stop: 'ended', close: 'ended' },
    },
    running: {
      entry: runAgent,
      exit: stopAgent,
      // It reports the agent's outcome.
      invoke: {
        src: 'watchChild',
        id: 'watch',
        input: ({ context }) => ({ ...context.call, life: context.lives }),
        onDone: [
          { guard: 'mayRestart', target: 'backoff', actions: startOver },
          { guard: 'mayBeginAnew', target: 'backoff', actions: startOver },
          { guard: 'isCrash', target: 'givenUp', actions: keepOutput },
          { target: 'ended', actions: keepOutput },
        ],
        onError: { target: 'givenUp', actions: fail },
      },
      on: {
        abort: { actions: tellAgent },
        stop: { actions: tellAgent },
        close: { actions: tellAgent },
      },
    },
    backoff: {
      invoke: {
        src: 'sleep',
        id: 'backoff',
        input: ({ context }) => ({ key: `${context.call.key}/life/${context.lives}`, until: context.retryAt }),
        onDone: 'opening',
        onError: 'opening',
      },
      on: { abort: { guard: 'isCalled', target: 'ended' }, stop: 'ended', close: 'ended' },
    },
    ended: { type: 'final' },
    /** End of an agent that crashed too often. Its caller gets the error. */
    givenUp: { type: 'final' },
  },
})
