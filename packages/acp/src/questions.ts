import type { Grant } from '../../../src/protocol/parts/permissions/permissionRecords.ts'
import type {
  AgentContext,
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationSchema,
  PermissionOption,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import type { Decision } from '../../../src/protocol/bridge/commands.ts'
import type { PendingOf } from '../../../src/protocol/runs/pending.ts'
import { formOf, type QuestionForm } from '../../bridge/src/client/questionForm.ts'
import { answerForm } from '../../bridge/src/server/answerForm.ts'
import { callShape } from './toolCallShape.ts'

type Question = PendingOf<'question'>

/** A client's decision, with the reason if it denied. */
export interface Verdict {
  readonly decision: Decision
  readonly reason?: string
  /** A rule for further calls. */
  readonly grant?: Grant
}

interface Place {
  readonly sessionId: string
  readonly rootId: string
}

interface Ask extends Place {
  readonly client: AgentContext
  /** True if the client can show forms. */
  readonly hasForms: boolean
  readonly signal: AbortSignal
}

const denied = (reason: string): Verdict => ({ decision: 'deny', reason })

/** Asks a client to answer a question: in a form if it can show forms, else as a choice. Rejects as the client does. */
export async function askClient(question: Question, ask: Ask): Promise<Verdict> {
  const { client, signal } = ask
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true } as const
  if (ask.hasForms) {
    return formVerdict(question, await client.request('elicitation/create', formRequest(question, ask), options))
  }
  const choices = choicesOf(formOf(question.schema))
  if (choices.length === 0) return denied('The client cannot ask such a question.')
  const request = choiceRequest(question, choices, ask)
  return choiceVerdict(choices, await client.request('session/request_permission', request, options))
}

const toolCallId = ({ agentId, callId, key }: Question, { rootId }: Place): string =>
  agentId === rootId ? callId : key

const messageOf = ({ question, problem }: Question): string =>
  problem === undefined ? question : `${question}\n(The last answer did not do: ${problem})`

/** Builds the request for a form; a form takes an object of simple fields. */
export function formRequest(question: Question, place: Place): CreateElicitationRequest {
  const isOwn = question.agentId === place.rootId
  return {
    mode: 'form',
    sessionId: place.sessionId,
    ...(isOwn ? { toolCallId: toolCallId(question, place) } : {}),
    message: messageOf(question),
    requestedSchema: answerForm(question.schema).schema as ElicitationSchema,
  }
}

/** Converts a client's response to a form into a verdict. */
export function formVerdict({ schema }: Question, response: CreateElicitationResponse): Verdict {
  if (response.action === 'decline') return denied('The user did not want to answer.')
  if (response.action !== 'accept') return denied('The question was dismissed.')
  const content = ('content' in response ? (response.content ?? {}) : {}) as { readonly [field: string]: unknown }
  return { decision: { value: answerForm(schema).read(content) } }
}

interface Choice {
  readonly name: string
  readonly value: unknown
}

function choicesOf(form: QuestionForm): readonly Choice[] {
  if (form.type === 'choice') return form.values.map((value) => ({ name: String(value), value }))
  if (form.type !== 'boolean') return []
  return [
    { name: 'Yes', value: true },
    { name: 'No', value: false },
  ]
}

function choiceRequest(question: Question, choices: readonly Choice[], place: Place) {
  const { name, input } = question
  const shape = callShape({ toolCallId: toolCallId(question, place), name, input })
  const options = choices.map((choice, index): PermissionOption => ({
    optionId: String(index),
    name: choice.name,
    kind: 'allow_once',
  }))
  return {
    sessionId: place.sessionId,
    toolCall: { ...shape, title: messageOf(question), status: 'in_progress' as const },
    options: [...options, { optionId: 'none', name: 'No answer', kind: 'reject_once' as const }],
  }
}

function choiceVerdict(choices: readonly Choice[], { outcome }: RequestPermissionResponse): Verdict {
  if (outcome.outcome !== 'selected') return denied('The question was dismissed.')
  const choice = choices[Number(outcome.optionId)]
  return choice === undefined ? denied('The user did not want to answer.') : { decision: { value: choice.value } }
}
