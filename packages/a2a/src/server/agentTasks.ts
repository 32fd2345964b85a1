import { createHash } from 'node:crypto'
import {
  TaskState,
  type AgentCard,
  type CancelTaskRequest,
  type GetTaskRequest,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '@a2a-js/sdk'
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { hasCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { ofProgram } from '../../../../src/protocol/asked.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { taskPlace, type TaskPlace } from '../../../bridge/src/server/taskPlace.ts'
import { refusalText } from '../../../bridge/src/streams/httpRefusals.ts'
import { textIn } from '../messages.ts'
import { answerTo } from './answering.ts'
import { followTask, isOver, isWaiting, taskUpdates } from './followTask.ts'
import { TaskView } from './taskView.ts'

interface Serving {
  readonly access: AgentAccess
  readonly definition: AgentDefinition
  readonly card: AgentCard
  /** Aborted when the client has left. */
  readonly signal: AbortSignal
}

/** Maximum number of tasks on a page. */
const mostListed = 100
/** Minimum length of a message id that counts as unique among clients. */
const uniqueLength = 16

/** Handles one client's A2A requests about the tasks of one definition. */
export class AgentTasks implements A2ARequestHandler {
  readonly #serving: Serving

  constructor(serving: Serving) {
    this.#serving = serving
  }

  getAgentCard(): Promise<AgentCard> {
    return Promise.resolve(this.#serving.card)
  }

  getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return Promise.reject(new UnsupportedOperationError('There is no other card.'))
  }

  sendMessage({ message, configuration }: SendMessageRequest): Promise<Task> {
    return this.#safely(async () => {
      const view = await this.#sent(message)
      const first = await view.read()
      if (configuration?.returnImmediately === true) return first
      let last = first
      for await (const task of followTask(view, this.#serving.signal)) last = task
      return last
    })
  }

  sendMessageStream({ message }: SendMessageRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#streamed(() => this.#sent(message))
  }

  resubscribe({ id }: SubscribeToTaskRequest): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#streamed(async () => {
      const view = await this.#view(id)
      if (isOver(await view.read())) throw new UnsupportedOperationError(`The task "${id}" is over.`)
      return this.#awake(view)
    })
  }

  getTask({ id }: GetTaskRequest): Promise<Task> {
    return this.#safely(async () => {
      const view = await this.#view(id)
      const task = await view.read()
      return isOver(task) ? task : (await this.#awake(view)).read()
    })
  }

  listTasks(request: ListTasksRequest): Promise<ListTasksResponse> {
    return this.#safely(() => this.#list(request))
  }

  cancelTask({ id }: CancelTaskRequest): Promise<Task> {
    return this.#safely(() => this.#cancel(id))
  }

  createTaskPushNotificationConfig = noPush
  getTaskPushNotificationConfig = noPush
  listTaskPushNotificationConfigs = noPush
  deleteTaskPushNotificationConfig = noPush

  /** Sends a message to an agent: as a new task, or as the answer that a task waits for. */
  async #sent(message: Message | undefined): Promise<TaskView> {
    const { access } = this.#serving
    if (message === undefined || message.parts.length === 0)
      throw new RequestMalformedError('The message has no parts.')
    access.must('talk', 'SendMessage')
    if (message.taskId !== '') return this.#answered(message)
    const text = textIn(message.parts)
    if (text.trim() === '') throw new RequestMalformedError('The message is empty.')
    const agent = await this.#agentFor(message)
    const place = { agentId: agent.id, requestId: requestIdOf(message) ?? access.newId() }
    // A message that is sent again is not carried out again.
    if (!(await access.wasAsked(agent, place.requestId))) {
      access.checkAdmitted()
      const prompt = { type: 'agent.prompt', agentId: agent.id, content: text, provenance: ofProgram } as const
      agent.dispatch(prompt, { requestId: place.requestId })?.result.catch(() => {})
    }
    return this.#viewAt(place, agent)
  }

  async #agentFor(message: Message): Promise<DrivenAgent> {
    const { access, definition } = this.#serving
    if (message.contextId !== '') return this.#driven(message.contextId)
    const digest = requestIdOf(message)
    const id = digest === undefined ? undefined : `${definition.name}-${digest}`
    try {
      return await access.begin(definition.name, id === undefined ? {} : { id })
    } catch (thrown) {
      if (id === undefined || !hasCode(thrown, 'AGENT_EXISTS')) throw thrown
      return this.#driven(id)
    }
  }

  async #answered(message: Message): Promise<TaskView> {
    const { access } = this.#serving
    const { place, agent: read } = await this.#view(message.taskId)
    const task = await this.#viewAt(place, read).read()
    if (message.contextId !== '' && message.contextId !== task.contextId)
      throw new RequestMalformedError(`The task "${task.id}" is not of the context "${message.contextId}".`)
    if (!isWaiting(task))
      throw new UnsupportedOperationError(
        isOver(task)
          ? `The task "${task.id}" is over: send the message without its id, for a new one in the same context.`
          : `The task "${task.id}" is at work, and asks nothing.`,
      )
    const agent = await this.#driven(place.agentId)
    const view = this.#viewAt(place, agent)
    const [pending] = view.pending
    if (pending === undefined) return view
    const answered = answerTo(pending, message.parts)
    if ('problem' in answered) throw new RequestMalformedError(`The answer does not do: ${answered.problem}.`)
    const { decision, reason } = answered
    access.mustDecide({ callId: pending.key, decision: typeof decision === 'string' ? decision : 'answer' }, agent)
    access.checkAdmitted()
    agent.decide(pending.key, decision, reason === undefined ? {} : { reason })
    await agent.taken?.()
    return view
  }

  async #list({ contextId, pageSize, pageToken, status }: ListTasksRequest): Promise<ListTasksResponse> {
    if (contextId === '') throw new UnsupportedOperationError('Tasks are listed by context: give a contextId.')
    const agent = this.#own(await this.#serving.access.reading(contextId))
    const ids: string[] = []
    for await (const record of this.#serving.access.records(agent.id))
      if (record.type === 'run.start' && record.requestId !== undefined && !ids.includes(record.requestId))
        ids.push(record.requestId)
    const from = pageToken === '' ? 0 : ids.indexOf(pageToken) + 1
    const size = Math.min(Math.max(1, pageSize ?? 50), mostListed)
    const page = ids.slice(from, from + size)
    const tasks: Task[] = []
    for (const requestId of page) tasks.push(await this.#viewAt({ agentId: agent.id, requestId }, agent).read())
    return {
      tasks:
        status === TaskState.TASK_STATE_UNSPECIFIED ? tasks : tasks.filter((task) => task.status?.state === status),
      nextPageToken: from + size < ids.length ? page.at(-1)! : '',
      pageSize: size,
      totalSize: ids.length,
    }
  }

  async #cancel(id: string): Promise<Task> {
    const { access, signal } = this.#serving
    access.must('talk', 'CancelTask')
    const { place, agent: read } = await this.#view(id)
    if (isOver(await this.#viewAt(place, read).read())) throw new TaskNotCancelableError(`The task "${id}" is over.`)
    const agent = await this.#driven(place.agentId)
    access.checkAdmitted()
    try {
      agent.dispatch({ type: 'agent.abort', agentId: agent.id, run: place.requestId })
    } catch (thrown) {
      throw new TaskNotCancelableError(messageOf(thrown))
    }
    const view = this.#viewAt(place, agent)
    let last = await view.read()
    for await (const task of followTask(view, signal, { toEnd: true })) last = task
    return last
  }

  async #view(taskId: string): Promise<TaskView> {
    const place = taskPlace(taskId)
    if (place === undefined) throw noTask(taskId)
    const { access } = this.#serving
    try {
      const agent = this.#own(await access.reading(place.agentId))
      if (await access.wasAsked(agent, place.requestId)) return this.#viewAt(place, agent)
    } catch (thrown) {
      // Who may not know of it is told the same as of one that there is not.
      if (!hasCode(thrown, 'AGENT_NOT_FOUND') && !hasCode(thrown, 'BRIDGE_FORBIDDEN')) throw thrown
    }
    throw noTask(taskId)
  }

  /** Continues a task whose process died, if the client may do so. */
  async #awake(view: TaskView): Promise<TaskView> {
    const { access } = this.#serving
    if (!access.may('talk')) return this.#viewAt(view.place, view.agent)
    const agent = await this.#driven(view.place.agentId)
    if (agent.pause?.type === 'interrupted' && access.may('control'))
      agent.dispatch({ type: 'agent.resume', agentId: agent.id }, { requestId: access.newId() })
    return this.#viewAt(view.place, agent)
  }

  #viewAt(place: TaskPlace, agent: DrivenAgent): TaskView {
    return new TaskView(place, agent, this.#serving.access, this.#serving.definition)
  }

  async #driven(agentId: string): Promise<DrivenAgent> {
    return this.#own(await this.#serving.access.driven(agentId))
  }

  /** @throws RuntimeError `AGENT_NOT_FOUND` for an agent of another definition, or below another agent */
  #own(agent: DrivenAgent): DrivenAgent {
    const { name } = this.#serving.definition
    if (agent.definition === name && agent.path.length === 0) return agent
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no context "${agent.id}" of "${name}".`)
  }

  async #safely<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw this.#shown(thrown)
    }
  }

  async *#streamed(begin: () => Promise<TaskView>): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* taskUpdates(await begin(), this.#serving.signal)
    } catch (thrown) {
      throw this.#shown(thrown)
    }
  }

  /** Returns an error in the form that the client may see. */
  #shown(thrown: unknown): unknown {
    if (!(thrown instanceof RuntimeError)) return thrown
    const { code, message } = this.#serving.access.outward(thrown)
    const text = refusalText({ code, message }, 'escapement/docs/a2a.md')
    if (code === 'AGENT_NOT_FOUND') return new TaskNotFoundError(text)
    return code === 'ANSWER_INVALID' || code === 'INVALID_ID' || code === 'INVALID_CONTENT'
      ? new RequestMalformedError(text)
      : new UnsupportedOperationError(`${code}: ${text}`)
  }
}

const noTask = (taskId: string): Error => new TaskNotFoundError(`There is no task ${JSON.stringify(taskId)}.`)

const noPush = (): Promise<never> => Promise.reject(new PushNotificationNotSupportedError())

/** Returns the request id of a message. `undefined` if other messages may have the same id. */
const requestIdOf = ({ messageId }: Message): string | undefined =>
  messageId.length < uniqueLength ? undefined : createHash('sha256').update(messageId).digest('hex').slice(0, 32)
