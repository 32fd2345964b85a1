import { createActor, type PromiseActorLogic } from 'xstate'
import type { AgentPorts, FindPorts, LiveBody } from '../../src/actors/agentPorts.ts'
import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { blankRequest } from '../../packages/evaluation/src/testing/blankRecording.ts'
import { assembleRequest } from '../../src/conversation/request/assembleRequest.ts'
import { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { PartDraft } from '../../src/machines/partStates.ts'
import type { Message } from '../../src/protocol/messages.ts'
import { recordVersion, type LogRecord } from '../../src/protocol/records.ts'
import { MemorySnapshots } from '../../packages/stores/src/memory/memorySnapshots.ts'
import { snapshotsOf } from './snapshotsOf.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { noUsage } from '../../src/protocol/messages.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The ports of one agent, with what an effect did to them. */
export interface RecordedPorts extends Mutable<AgentPorts> {
  readonly clock: SimulatedClock
  readonly emitted: LiveBody[]
  /** Records of parts that it made. */
  readonly recorded: PartDraft[]
  /** Keys that the machine was told of. */
  readonly started: string[]
  /** Replies of models that failed, and which model answered next. */
  readonly replaced: Parameters<AgentPorts['replyReplaced']>[]
}

/** Ports over a conversation that holds these messages. */
export function actorPorts(
  options: Partial<AgentOptions> = {},
  messages: readonly Message[] = [userSays('hello')],
): RecordedPorts {
  const definition = defineAgent({ name: 'tester', model: scriptedModel([]), ...options })
  const conversation = new Conversation(definition.counter)
  for (const record of recordsOf(messages)) conversation.apply(record)
  const { system, toolSpecs: tools, settings } = definition
  const emitted: LiveBody[] = []
  const started: string[] = []
  const recorded: PartDraft[] = []
  const replaced: RecordedPorts['replaced'] = []
  return {
    agentId: 'a1',
    path: [],
    definition,
    ownDefinition: definition,
    deps: undefined,
    frame: definition,
    decided: () => {},
    conversation,
    clock: simulatedClock(1_000),
    random: () => 0.25,
    snapshots: snapshotsOf(new MemorySnapshots(), 'a1'),
    partial: null,
    printed: new Map(),
    kept: new Map(),
    announced: '',
    assemble: () => assembleRequest(conversation, { system, tools, settings }),
    gate: () => undefined,
    durable: () => undefined,
    held: async () => {},
    emit: (event) => void emitted.push(event),
    delta: (type, { runId, turnIndex }, text, offset) => void emitted.push({ type, runId, turnIndex, text, offset }),
    isObserved: true,
    capture: () => {},
    within: (_, run) => run(),
    requested: ({ runId, turnIndex }, request, { provenance }) =>
      void emitted.push({
        type: 'turn.request',
        runId,
        turnIndex,
        model: definition.model.id,
        request: blankRequest(request),
        provenance,
      }),
    ask: () => Promise.reject(new Error('Nobody was to be asked.')),
    deadline: null,
    approve: () => Promise.reject(new Error('Nobody was to be asked.')),
    runIncognito: () => Promise.reject(new Error('Nothing was to run incognito.')),
    exportSession: () => {
      throw new Error('Nothing was to be exported.')
    },
    policyFired: () => {},
    parts: {},
    sleep: () => {},
    record: (records) => void recorded.push(...records),
    replyStarted: (key) => void started.push(key),
    replyReplaced: (...args) => void replaced.push(args),
    warn: (at, message) => void emitted.push({ type: 'model.warning', ...at, model: definition.model.id, message }),
    emitted,
    recorded,
    started,
    replaced,
  }
}

export const userSays = (text: string): Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
  source: 'prompt',
})

export const agentSays = (...content: Extract<Message, { role: 'assistant' }>['content']): Message => ({
  role: 'assistant',
  content,
  stopReason: content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
  usage: noUsage,
  model: 'test:model',
})

export const toolSays = (callId: string, text: string): Message => ({
  role: 'toolResult',
  callId,
  toolName: 'look',
  content: [{ type: 'text', text }],
  isError: false,
})

function recordsOf(messages: readonly Message[]): LogRecord[] {
  return messages.map((message, index) => {
    const seq = index + 1
    const base = {
      v: recordVersion,
      seq,
      time: 0,
      runId: 'a1/r0',
      turnIndex: 0,
      nodeId: seq,
      parentId: index === 0 ? null : index,
    } as const
    if (message.role === 'user') return { ...base, type: 'message.added', message }
    if (message.role === 'assistant') return { ...base, type: 'reply.end', message, costUsd: 0, estimatedTokens: 0 }
    const { callId, toolName: name } = message
    return { ...base, type: 'tool.end', message, callId, name, key: callId }
  })
}

export interface RunningActor<Output> {
  /** Resolves with the output, rejects with the error it threw; never settles if it is stopped. */
  readonly output: Promise<Output>
  /** Stops the effect, as leaving its state does. */
  stop(): void
}

/** Runs one effect over the ports. */
export function runActor<Output, Input>(
  make: (find: FindPorts) => PromiseActorLogic<Output, Input>,
  ports: AgentPorts,
  input: Input,
): RunningActor<Output> {
  const actor = createActor(
    make(() => ports),
    { input },
  )
  const output = new Promise<Output>((resolve, reject) => {
    actor.subscribe({
      next: (snapshot) => {
        if (snapshot.status === 'done') resolve(snapshot.output)
      },
      error: reject,
    })
  })
  actor.start()
  return { output, stop: () => void actor.stop() }
}
