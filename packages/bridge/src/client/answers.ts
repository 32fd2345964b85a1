import type { AppState } from './fold/foldAppState.ts'
import type { WaitingAgent } from '../../../../src/protocol/runs/pending.ts'
import type { PolicyInfo, Tag } from '../../../../src/protocol/braking.ts'
import { isErrorCode, RuntimeError, type ErrorData, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentSummary, SessionEntry, WorkerEntry } from '../../../wire/src/frames.ts'
import type { ListedSchedule } from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import type { SearchHit } from '../../../../src/protocol/ports/logSearch.ts'
import type { Message } from '../../../../src/protocol/messages.ts'
import type { Pending, PendingOf } from '../../../../src/protocol/runs/pending.ts'
import type { PauseReason, RunStopReason } from '../../../../src/protocol/records.ts'
import type { SourceInfo } from '../../../../src/protocol/toolsChange.ts'
import { permissionModes } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { Permissions } from '../../../../src/protocol/parts/permissions/permissionState.ts'
import type { ModelUse, TurnUse } from '../../../../src/protocol/bridge/turns.ts'
import {
  anything,
  count,
  fields,
  list,
  maybe,
  number,
  oneOf,
  orNull,
  partly,
  record,
  text,
  word,
  yesOrNo,
  wrongText,
  type Shape,
} from './shape.ts'
import {
  errorShape,
  metadataShape,
  pauseShape,
  sessionShape,
  stopReason,
  summaryFields,
  summaryShape,
} from './summaryShapes.ts'

/** Answer to `agent.spawn`. */
export const spawnedShape = fields<{ readonly agentId: string; readonly seq: number }>({ agentId: text, seq: count })

/** Answer to a command. `ended` has the outcome of its run if the log will not have it. */
export interface CommandAnswer {
  readonly requestId: string
  readonly ended?: { readonly stopReason: RunStopReason; readonly error?: ErrorInfo }
}
export const commandAnswerShape = fields<CommandAnswer>({
  requestId: text,
  ended: maybe(fields<NonNullable<CommandAnswer['ended']>>({ stopReason, error: maybe(errorShape) })),
})

/** A page of agents. */
export interface RemoteAgents {
  readonly agents: readonly AgentSummary[]
  /** Number of agents on all pages. */
  readonly total: number
}

/** Answer to `agent.list`. */
export const agentsShape = fields<RemoteAgents>({ agents: list(summaryShape), total: count })

/** A page of sessions. */
export interface RemoteSessions {
  readonly sessions: readonly SessionEntry[]
  /** Number of sessions on all pages. */
  readonly total: number
}

/** Answer to `session.list`. */
export const sessionsShape = fields<RemoteSessions>({ sessions: list(sessionShape), total: count })

/** Matches of a search. */
export interface RemoteSearch {
  /** Matching records, the best first. */
  readonly hits: readonly SearchHit[]
  /** The sessions that the records belong to. */
  readonly sessions: readonly SessionEntry[]
}

/** Answer to `session.search`. */
export const searchShape = fields<RemoteSearch>({
  hits: list(fields<SearchHit>({ agentId: text, seq: count, excerpt: text, rank: number })),
  sessions: list(sessionShape),
})

/** A process behind a gateway in which agents run. */
export type RemoteWorker = WorkerEntry

/** Answer to `worker.list`. */
export const workersShape = fields<{ readonly workers: readonly RemoteWorker[] }>({
  workers: list(fields<RemoteWorker>({ name: text, words: maybe(text) })),
})

/** A read-only token for an agent and its descendants. */
export interface RemoteShare {
  readonly token: string
  /** Time at which the token expires, in epoch milliseconds. */
  readonly expiresAt: number
}

/** Answer to `agent.fork`. */
export const forkShape = fields<{ readonly agentId: string }>({ agentId: text })

/** Answer to `agent.share`. */
export const shareShape = fields<RemoteShare>({ token: text, expiresAt: number })

/** An agent and its live descendants. */
export interface RemoteTree {
  readonly id: string
  readonly definition: string
  readonly state: string
  readonly children: readonly RemoteTree[]
}

const treeShape: Shape<RemoteTree> = fields<RemoteTree>({
  id: text,
  definition: text,
  state: text,
  children: list((value) => treeShape(value)),
})

/** A call that waits for `decide`. */
interface RemoteApproval {
  readonly agentId: string
  readonly callId: string
  readonly key: string
  readonly name: string
  readonly input: unknown
}

const waiting = { agentId: text, callId: text, key: text, name: text, input: anything }

const approvalShape = fields<RemoteApproval>(waiting)
const asked = { ...waiting, askedAt: maybe(number) }

const pendingShape = oneOf<'kind', Pending>('kind', {
  approval: fields<PendingOf<'approval'>>({
    kind: word('approval'),
    ...asked,
    irreversible: maybe(word(true)),
    suggest: maybe(list(text)),
  }),
  question: fields<PendingOf<'question'>>({
    kind: word('question'),
    ...asked,
    background: maybe(text),
    question: text,
    schema: record,
    problem: maybe(text),
  }),
  call: fields<PendingOf<'call'>>({ kind: word('call'), ...asked }),
})

/** Agents with something that waits for people. */
export interface RemoteWaiting {
  /** Waiting agents, the longest wait first. */
  readonly waiting: readonly WaitingAgent[]
  /** Total number of waiting agents. */
  readonly total: number
}

/** Answer to `waiting.list`. */
export const waitingShape = fields<RemoteWaiting>({
  waiting: list(
    fields<WaitingAgent>({
      agentId: text,
      definition: text,
      title: maybe(text),
      metadata: maybe(metadataShape),
      isRunning: yesOrNo,
      pending: list(pendingShape),
    }),
  ),
  total: count,
})

/** Current state of an agent. */
export interface RemoteSnapshot extends AgentSummary {
  readonly tree: RemoteTree
  /** Calls that wait for `decide`, of the agent and its descendants. */
  readonly approvals: readonly RemoteApproval[]
  /** Everything that waits for people, by `kind`; missing from servers of an older version. */
  readonly asked?: readonly Pending[]
  /** Reason for the pause. */
  readonly pause: PauseReason | null
  /** Policies that `brake` can run, in order; missing if the server does not know them or has an older version. */
  readonly policies?: readonly PolicyInfo[]
  /** States of the agent's tool sources; missing without any, and from servers of an older version. */
  readonly sources?: readonly SourceInfo[]
  /** Options set by `use`; missing if none are set. */
  readonly inUse?: TurnUse
  /** The agent's schedules, the next to fire first; missing without any. */
  readonly schedules?: readonly ListedSchedule[]
  /** Rules for the agent's calls; missing without `permissions`, and from servers of an older version. */
  readonly permissions?: Permissions
  /** The agent's application state; missing without one, and for clients that may not see everything. */
  readonly appState?: AppState
}

const source = fields<SourceInfo>({
  source: text,
  state: word('idle', 'opening', 'up', 'waiting', 'failed', 'closed'),
  trouble: maybe(text),
  tools: list(text),
})

const permissions = fields<Permissions>({
  mode: word(...permissionModes),
  rules: fields<Permissions['rules']>({ deny: list(text), ask: list(text), allow: list(text) }),
  grants: list(
    fields<Permissions['grants'][number]>({
      id: text,
      rule: text,
      decision: word('allow', 'deny'),
      scope: word('session', 'always'),
      seq: count,
    }),
  ),
  hasStore: yesOrNo,
})

const use = fields<TurnUse>({
  instructions: maybe(text),
  tools: maybe(list(text)),
  model: maybe(fields<ModelUse>({ id: text, name: maybe(text) })),
})

/** Answer to `agent.snapshot`. */
export const snapshotShape = fields<Omit<RemoteSnapshot, 'inUse'> & { readonly use?: TurnUse }>({
  ...summaryFields,
  tree: treeShape,
  approvals: list(approvalShape),
  asked: maybe(list(pendingShape)),
  pause: orNull(pauseShape),
  policies: maybe(list(fields<PolicyInfo>({ name: text, when: text, decide: text, keep: text }))),
  sources: maybe(list(source)),
  use: maybe(use),
  schedules: maybe(list(partly<ListedSchedule>({ id: text, due: number, prompt: text }))),
  permissions: maybe(permissions),
  appState: maybe(fields<AppState>({ value: anything, version: count })),
})

/** Converts a snapshot from the wire. The options in use get the name that they have on a local agent. */
export function snapshotOf(answer: unknown): RemoteSnapshot {
  const { use: inUse, ...rest } = readAnswer(snapshotShape, answer)
  return inUse === undefined ? rest : { ...rest, inUse }
}

/** A message in its place in the tree. */
export interface RemoteNode {
  readonly id: number
  readonly parentId: number | null
  readonly message: Message
  readonly runId: string
  readonly turnIndex: number
  /** Id of the first node of the message's step. */
  readonly stepId: number
  /** Estimated tokens of this message, and of the whole path from the root to it. */
  readonly tokens: number
  readonly pathTokens: number
  /** Depth on its path; the root has 1. */
  readonly depth: number
  /** Notes left by reverts to this node. */
  readonly tags: readonly Tag[]
  /** The node that this one repeats, after a revert removed the original from the trunk. */
  readonly rebasedFrom?: number
  /** Id of the original node; only on a copy that a graft made. */
  readonly copiedFrom?: number
}

/** A conversation: the trunk, or every node ever made. */
export interface RemoteConversation {
  readonly head: number | null
  readonly nodes: readonly RemoteNode[]
  /** Pinned steps, by the id of their first node, and pinned summaries. */
  readonly pins: readonly number[]
  /** Steps whose results the model does not see, by the id of their first node. */
  readonly masks: readonly number[]
}

type ConversationAnswer = Pick<RemoteConversation, 'head' | 'nodes'> & Partial<RemoteConversation>

/** Shape of a message. Blocks are checked only by their type. Other fields are as in the log. */
const messageShape = partly<Message>({
  role: word('user', 'assistant', 'toolResult') as Shape<never>,
  content: list(partly<Message['content'][number]>({ type: text as Shape<never> })) as Shape<never>,
})

const tag = partly<Tag>({ kind: text as Shape<never>, text, abandoned: list(count) })

/** Answer to `agent.conversation`; a server of an older version has no pins and no masks. */
export const conversationShape = fields<ConversationAnswer>({
  head: orNull(number),
  nodes: list(
    fields<RemoteNode>({
      id: number,
      parentId: orNull(number),
      message: messageShape,
      runId: text,
      turnIndex: number,
      stepId: number,
      tokens: number,
      pathTokens: number,
      depth: number,
      tags: list(tag),
      rebasedFrom: maybe(number),
      copiedFrom: maybe(number),
    }),
  ),
  pins: maybe(list(number)),
  masks: maybe(list(number)),
})

/**
 * Checks a server's answer.
 *
 * @throws RuntimeError `BRIDGE_FRAME`
 */
export function readAnswer<T>(shape: Shape<T>, answer: unknown): T {
  const wrong = shape(answer)
  if (wrong === undefined) return answer as T
  throw new RuntimeError('BRIDGE_FRAME', `The server's answer is not known here: ${wrongText(wrong)}.`)
}

/** Converts an error of the server to one that can be thrown. */
export function remoteError({
  code,
  message,
  elsewhere,
}: ErrorInfo & { readonly elsewhere?: ErrorData }): RuntimeError {
  if (!isErrorCode(code)) return new RuntimeError('BRIDGE_FRAME', `The server answered ${code}: ${message}`)
  return new RuntimeError(code, message, elsewhere === undefined ? {} : { data: elsewhere })
}

/** Returns an error as plain data. */
export const infoOf = ({ code, message }: RuntimeError): ErrorInfo => ({ code, message })

/** Returns the error for every call on a closed client. */
export const closedError = (): RuntimeError => new RuntimeError('BRIDGE_CLOSED', 'The client is closed.')
