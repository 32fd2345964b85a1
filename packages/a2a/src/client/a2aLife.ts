import { createHash } from 'node:crypto'
import { TaskState, type AgentCard, type Part, type StreamResponse, type Task } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { z } from 'zod'
import type { RemoteAnswer, RemoteHost, RemoteTask } from '../../../remote/src/remoteAgent.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import { messageOf as wordsOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'
import { dataIn, messageOf, textIn, textInTask, textPart } from '../messages.ts'
import { sentOnce } from '../sentOnce.ts'
import { withinTime, type A2aSettings } from './connect.ts'

/** Note of a task: the message is about to be sent, or the server has given the task an id. `asking`: the question that people are asked. */
const handleSchema = lazily(() =>
  z.object({
    messageId: z.string(),
    taskId: z.string().optional(),
    contextId: z.string().optional(),
    asking: z.string().optional(),
  }),
)
type Handle = z.infer<ReturnType<typeof handleSchema>>

/** Milliseconds between two polls of a task whose server does not stream: the first interval, and the maximum. */
const pollMs = [500, 10_000] as const
/** Maximum length of a question in characters. */
const mostAsked = 20_000

/** Carries out a task of an A2A agent once, between two restarts. */
export class A2aLife {
  readonly #settings: A2aSettings
  readonly #host: RemoteHost
  readonly #client: Client
  readonly #card: AgentCard
  #handle: Handle
  readonly #known: Handle | undefined
  /** Status that was last reported. */
  #told = ''

  constructor(
    settings: A2aSettings,
    task: RemoteTask,
    host: RemoteHost,
    { client, card }: { readonly client: Client; readonly card: AgentCard },
  ) {
    this.#settings = settings
    this.#host = host
    this.#client = client
    this.#card = card
    const known = handleSchema().safeParse(task.handle)
    this.#known = known.success ? known.data : undefined
    this.#handle = this.#known ?? { messageId: createHash('sha256').update(task.key).digest('hex').slice(0, 32) }
  }

  async run(text: string): Promise<RemoteAnswer> {
    let task = await this.#begun(text)
    for (let wait: number = pollMs[0]; ; wait = Math.min(wait * 1.5, pollMs[1])) {
      this.#host.signal.throwIfAborted()
      if ('text' in task) return task
      this.#tell(task)
      const answer = this.#answerOf(task)
      if (answer !== undefined) return answer
      if (task.status?.state === TaskState.TASK_STATE_INPUT_REQUIRED) {
        task = await this.#answered(task)
        wait = pollMs[0]
      } else if (this.#streams) task = await this.#followed(task)
      else {
        await pause(wait, this.#host.clock, this.#host.signal)
        task = await this.#look()
      }
    }
  }

  /** Tells the server that the task is cancelled. Never rejects. */
  async cancel(): Promise<void> {
    const { taskId } = this.#handle
    if (taskId === undefined) return
    await withinTime(this.#settings, () =>
      this.#client.cancelTask({ tenant: '', id: taskId, metadata: undefined }),
    ).catch(() => {})
  }

  get #streams(): boolean {
    return this.#card.capabilities?.streaming === true
  }

  /** Sends the message, unless an earlier run has. */
  async #begun(text: string): Promise<Task | RemoteAnswer> {
    if (this.#known?.taskId !== undefined) return this.#look()
    const isOnce = this.#card.capabilities?.extensions.some(({ uri }) => uri === sentOnce) === true
    if (this.#known !== undefined && !isOnce)
      return {
        text: `The agent "${this.#settings.name}" was interrupted while the task was being sent: it is not known whether it was begun.`,
        isError: true,
      }
    await this.#note({})
    return this.#send([textPart(text)], this.#handle.messageId, {})
  }

  async #send(
    parts: Part[],
    messageId: string,
    place: Pick<Handle, 'taskId' | 'contextId'>,
  ): Promise<Task | RemoteAnswer> {
    const message = messageOf('user', parts, {
      messageId,
      taskId: place.taskId ?? '',
      contextId: place.contextId ?? '',
    })
    const request = { tenant: '', message, metadata: undefined }
    if (this.#streams)
      return this.#read(
        this.#client.sendMessageStream({ ...request, configuration: undefined }, { signal: this.#host.signal }),
      )
    const configuration = {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    }
    const sent = await this.#asked((signal) => this.#client.sendMessage({ ...request, configuration }, { signal }))
    if (!('status' in sent)) return { text: textIn(sent.parts) }
    await this.#has(sent)
    return sent
  }

  /** Reads a stream to its end, and then fetches the task, which has everything that the stream left out. */
  async #read(events: AsyncGenerator<StreamResponse, void, undefined>): Promise<Task | RemoteAnswer> {
    try {
      for await (const { payload } of events) {
        this.#host.alive()
        switch (payload?.$case) {
          case 'message':
            return { text: textIn(payload.value.parts) }
          case 'task':
            await this.#has(payload.value)
            this.#tell(payload.value)
            break
          case 'statusUpdate':
            await this.#has({ id: payload.value.taskId, contextId: payload.value.contextId })
            this.#tell(payload.value)
            break
          case 'artifactUpdate':
            this.#host.update('text', textIn(payload.value.artifact?.parts ?? []))
            break
          case undefined:
        }
      }
    } catch (thrown) {
      this.#host.signal.throwIfAborted()
      // Else the task is at work, whatever became of the stream.
      if (this.#handle.taskId === undefined) throw this.#failure(thrown)
    }
    if (this.#handle.taskId === undefined)
      throw new RuntimeError('CHILD_CRASHED', `The agent "${this.#settings.name}" ended its stream without a task.`)
    return this.#look()
  }

  async #followed(task: Task): Promise<Task | RemoteAnswer> {
    const followed = await this.#read(
      this.#client.resubscribeTask({ tenant: '', id: task.id }, { signal: this.#host.signal }),
    )
    // A server that ends its streams early is not asked without a break.
    if (!('text' in followed) && followed.status?.state === task.status?.state)
      await pause(pollMs[0], this.#host.clock, this.#host.signal)
    return followed
  }

  #look(): Promise<Task> {
    const id = this.#handle.taskId!
    return this.#asked((signal) => this.#client.getTask({ tenant: '', id, historyLength: 0 }, { signal }))
  }

  /** Sends the server a request that should be answered quickly. */
  async #asked<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const answer = await withinTime(this.#settings, ask, this.#host.signal)
      this.#host.alive()
      return answer
    } catch (thrown) {
      this.#host.signal.throwIfAborted()
      throw this.#failure(thrown)
    }
  }

  /** Converts an error: an unreachable server is tried again, but an error that it answers with is final. */
  #failure(thrown: unknown): unknown {
    if (thrown instanceof RuntimeError) return thrown
    const { name } = this.#settings
    const said = `The agent "${name}" failed: ${wordsOf(thrown)}`
    return isLost(thrown) ? new RuntimeError('CHILD_CRASHED', `${said}.`) : new Error(said, { cause: thrown })
  }

  /** Records the task before anything else is awaited. */
  async #has({ id: taskId, contextId }: Pick<Task, 'id' | 'contextId'>): Promise<void> {
    if (this.#handle.taskId === taskId) return
    if (taskId === '') throw new Error(`The agent "${this.#settings.name}" gave its task no id.`)
    if (this.#handle.taskId !== undefined)
      throw new Error(`The agent "${this.#settings.name}" answered about another task, ${JSON.stringify(taskId)}.`)
    await this.#note({ taskId, contextId })
  }

  async #note(change: Partial<Handle>): Promise<void> {
    this.#handle = { ...this.#handle, ...change }
    await this.#host.note(this.#handle.taskId ?? this.#handle.messageId, this.#handle)
  }

  #tell({ status }: Pick<Task, 'status'>): void {
    const text = textIn((status?.message?.parts ?? []).filter(({ content }) => content?.$case !== 'data'))
    const told = `${status?.state}${text}`
    if (told === this.#told) return
    this.#told = told
    if (text !== '') this.#host.update(status?.state === TaskState.TASK_STATE_WORKING ? 'text' : 'status', text)
  }

  #answerOf(task: Task): RemoteAnswer | undefined {
    const { name } = this.#settings
    const said = textIn(task.status?.message?.parts ?? [])
    const text = [textInTask(task), said].filter((part) => part !== '').join('\n\n')
    const data = task.artifacts.flatMap(({ parts }) => dataIn(parts))
    const unfinished = (why: string): RemoteAnswer => ({
      text: `The agent "${name}" did not finish: ${why}.${text === '' ? '' : `\n\n${text}`}`,
      isError: true,
    })
    switch (task.status?.state) {
      case TaskState.TASK_STATE_COMPLETED:
        return {
          text: text === '' && data.length > 0 ? data.map((each) => JSON.stringify(each)).join('\n') : text,
          ...(data.length === 0 ? {} : { data: data.length === 1 ? data[0] : data }),
        }
      case TaskState.TASK_STATE_FAILED:
        return unfinished('it failed')
      case TaskState.TASK_STATE_CANCELED:
        return unfinished('it was cancelled')
      case TaskState.TASK_STATE_REJECTED:
        return unfinished('it refused')
      case TaskState.TASK_STATE_AUTH_REQUIRED:
        return unfinished('it wants its caller to sign in somewhere, which is not done here')
      case TaskState.TASK_STATE_SUBMITTED:
      case TaskState.TASK_STATE_WORKING:
      case TaskState.TASK_STATE_INPUT_REQUIRED:
        return undefined
      default:
        return unfinished(`its task has the unknown state ${JSON.stringify(task.status?.state)}`)
    }
  }

  /** Asks people a question, and sends their answer to the agent. */
  async #answered(task: Task): Promise<Task | RemoteAnswer> {
    const parts = task.status?.message?.parts ?? []
    const words = textIn(parts.filter(({ content }) => content?.$case !== 'data'))
    const question = cutMiddle(words || `The agent "${this.#settings.name}" asks for something.`, mostAsked)
    const asking = task.status?.message?.messageId || `${task.status?.timestamp ?? ''} ${question.slice(0, 200)}`
    const isAgain = this.#handle.asking === asking
    if (!isAgain) await this.#note({ asking })
    const answer = isYesOrNo(parts)
      ? (await this.#host.ask(z.boolean(), question, isAgain))
        ? 'yes'
        : 'no'
      : await this.#host.ask(z.string(), question, isAgain)
    const messageId = createHash('sha256').update(`${this.#handle.messageId} ${asking}`).digest('hex').slice(0, 32)
    return this.#send([textPart(answer)], messageId, this.#handle)
  }
}

const pendingSchema = lazily(() =>
  z.object({ pending: z.tuple([z.object({ kind: z.literal('approval') })], z.unknown()) }),
)

const isYesOrNo = (parts: readonly Part[]): boolean =>
  dataIn(parts).some((data) => pendingSchema().safeParse(data).success)

/** True for an error that means that there was no answer. */
const isLost = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (thrown.name === 'TimeoutError' ||
    (thrown instanceof TypeError && /fetch failed|terminated|network/i.test(thrown.message)) ||
    /\b(?:status|Status:?) ?5\d\d\b|HTTP error[^.]{0,80}5\d\d/.test(thrown.message))
