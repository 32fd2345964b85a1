import { assign, createActor, emit, fromCallback, fromPromise, setup, waitFor } from 'xstate'
import {
  pastText,
  type Contender,
  type Definition,
  type Host,
  type Session,
  type SessionOptions,
} from '../peers/contender.ts'
import { answer, endsBurst, goesOn, never, textOf, tick, word, type AgentSpec, type Call } from '../peers/script.ts'

type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly role: 'toolResult'; readonly callId: string; readonly text: string }

interface Context {
  readonly messages: readonly Message[]
  /** Calls of the reply that is being carried out. */
  readonly calls: readonly Call[]
  readonly turns: number
  readonly isAborted: boolean
}

type Delta = { readonly type: 'delta'; readonly text: string }
type Event =
  | Delta
  | { readonly type: 'prompt'; readonly text: string }
  | { readonly type: 'abort' }
  | { readonly type: 'reply'; readonly text: string; readonly calls: readonly Call[] }

type CarryOut = (call: Call) => Promise<string>

/** XState alone, as one writes it who has not measured: idle, replying, executing, replying. A delta is an event of the machine. */
export const xstate: Contender = { open: async () => xstateHost }

const xstateHost: Host = {
  define: xstateDefinition,
  release: async () => {},
  close: async () => {},
}

function xstateDefinition(spec: AgentSpec): Definition {
  const tools = new Map(spec.tools.map((tool) => [tool.name, tool]))
  const agents = new Map((spec.agents ?? []).map((agent) => [agent.name, xstateDefinition(agent)]))
  const machine = machineOf(spec)

  function create(options: SessionOptions = {}): Session {
    const { onDelta, history = 0 } = options
    const carryOut: CarryOut = async ({ name, input }) => {
      const agent = agents.get(name)
      if (agent === undefined) return tools.get(name)!.run(input as { n: number })
      const session = await agent.create(onDelta === undefined ? {} : { onDelta })
      await session.prompt(String(input['task']))
      return 'done'
    }
    const actor = createActor(machine, { input: { messages: past(history), carryOut } })
    if (onDelta !== undefined) actor.on('delta', onDelta)
    actor.start()
    return {
      async prompt(text) {
        actor.send({ type: 'prompt', text })
        const { context } = await waitFor(actor, (snapshot) => snapshot.matches('idle'))
        return { how: context.isAborted ? 'aborted' : 'done', turns: context.turns }
      },
      abort: () => actor.send({ type: 'abort' }),
      messages: () => actor.getSnapshot().context.messages.length,
    }
  }

  return { create }
}

const past = (history: number): readonly Message[] =>
  Array.from({ length: history }, (_, index) =>
    index % 2 === 0 ? { role: 'user', text: pastText(index) } : { role: 'assistant', text: pastText(index), calls: [] },
  )

function machineOf(spec: AgentSpec) {
  return setup({
    types: {
      context: {} as Context & { readonly carryOut: CarryOut },
      events: {} as Event,
      emitted: {} as Delta,
      input: {} as Pick<Context, 'messages'> & { readonly carryOut: CarryOut },
    },
    actors: {
      model: fromCallback<Event, { readonly messages: readonly Message[] }>(({ input, sendBack }) => {
        const stop = new AbortController()
        void stream(spec, input.messages, { signal: stop.signal, sendBack })
        return () => stop.abort()
      }),
      calls: fromPromise<readonly Message[], Pick<Context, 'calls'> & { readonly carryOut: CarryOut }>(
        ({ input: { calls, carryOut } }) =>
          Promise.all(
            calls.map(async (call) => ({
              role: 'toolResult' as const,
              callId: call.callId,
              text: await carryOut(call),
            })),
          ),
      ),
    },
    actions: {
      tell: emit(({ event }) => event as Delta),
      begin: assign({
        messages: ({ context, event }) =>
          event.type === 'prompt' ? [...context.messages, { role: 'user', text: event.text }] : context.messages,
        turns: 0,
        isAborted: false,
      }),
      keepReply: assign(({ context, event }) =>
        event.type === 'reply'
          ? {
              messages: [...context.messages, { role: 'assistant', text: event.text, calls: event.calls }],
              calls: event.calls,
            }
          : {},
      ),
    },
    guards: { hasCalls: ({ event }) => event.type === 'reply' && event.calls.length > 0 },
  }).createMachine({
    context: ({ input }) => ({ ...input, calls: [], turns: 0, isAborted: false }),
    initial: 'idle',
    states: {
      idle: { on: { prompt: { target: 'replying', actions: 'begin' } } },
      replying: {
        entry: assign({ turns: ({ context }) => context.turns + 1 }),
        invoke: { src: 'model', input: ({ context }) => ({ messages: context.messages }) },
        on: {
          delta: { actions: 'tell' },
          reply: [
            { guard: 'hasCalls', target: 'executing', actions: 'keepReply' },
            { target: 'idle', actions: 'keepReply' },
          ],
          abort: { target: 'idle', actions: assign({ isAborted: true }) },
        },
      },
      executing: {
        invoke: {
          src: 'calls',
          input: ({ context: { calls, carryOut } }) => ({ calls, carryOut }),
          onDone: {
            target: 'replying',
            actions: assign({ messages: ({ context, event }) => [...context.messages, ...event.output] }),
          },
        },
        on: { abort: { target: 'idle', actions: assign({ isAborted: true }) } },
      },
    },
  })
}

async function stream(
  spec: AgentSpec,
  messages: readonly Message[],
  { signal, sendBack }: { readonly signal: AbortSignal; sendBack(event: Event): void },
): Promise<void> {
  const last = messages.at(-1)!
  const reply = answer(spec, last.role === 'toolResult' ? last.callId : undefined)
  if (reply.hang === 'model') await never()
  // A model answers later than it is asked.
  await Promise.resolve()
  while (goesOn(reply, signal)) {
    sendBack({ type: 'delta', text: word })
    await tick()
  }
  const { deltas, calls } = reply
  for (let index = 0; index < deltas; index += 1) {
    sendBack({ type: 'delta', text: word })
    if (endsBurst(index)) await tick()
  }
  sendBack({ type: 'reply', text: textOf(deltas), calls })
}
