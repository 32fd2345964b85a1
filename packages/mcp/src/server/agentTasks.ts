import { createHash } from 'node:crypto'
import { ofProgram } from '../../../../src/protocol/asked.ts'
import { hasCode, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { isWait } from '../../../../src/protocol/runs/waits.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { taskPlace, type TaskPlace } from '../../../bridge/src/server/taskPlace.ts'
import type { AgentTool, Wanted } from './agentTool.ts'
import { sessionOf } from './callAgent.ts'
import { followRun } from './followRun.ts'
import { isOver, TaskView, type McpTask } from './taskView.ts'

/** Maximum number of sessions whose tasks are on a page of the list. */
const sessionsOnPage = 20
/** Minimum number of characters of a value that counts as unique. */
const uniqueLength = 16

/** Manages the tasks of agents within one client's reach. A restarted process answers as the one before did. */
export class AgentTasks {
  readonly #access: AgentAccess
  readonly #tools: ReadonlyMap<string, AgentTool>

  constructor(access: AgentAccess, tools: ReadonlyMap<string, AgentTool>) {
    this.#access = access
    this.#tools = tools
  }

  /**
   * Begins a task, unless one was begun with the same value of `once`. Rejects with `BRIDGE_FORBIDDEN`,
   * `AGENT_NOT_FOUND`, `INVALID_OPTION`, and what `Agent.dispatch` throws.
   */
  async begin(tool: AgentTool, wanted: Exclude<Wanted, { type: 'wrong' }>, once: unknown): Promise<TaskView> {
    const access = this.#access
    access.must('talk', 'tools/call')
    const given = digestOf(once)
    const agent =
      wanted.session === undefined ? await this.#agentFor(tool, given) : await sessionOf(tool, wanted.session, access)
    const requestId = given ?? access.newId()
    if (await access.wasAsked(agent, requestId)) return this.#at(tool, agent, requestId)
    access.checkAdmitted()
    const agentId = agent.id
    if (wanted.type === 'task') {
      const prompt = { type: 'agent.prompt', agentId, content: wanted.text, provenance: ofProgram } as const
      agent.dispatch(prompt, { requestId })?.result.catch(() => {})
    } else if (agent.pause !== null && !isWait(agent.pause) && access.may('control'))
      agent.dispatch({ type: 'agent.resume', agentId }, { requestId })?.result.catch(() => {})
    else return this.#at(tool, agent, await this.#lastRequest(agent))
    await agent.taken?.()
    return this.#at(tool, agent, requestId)
  }

  /** Resolves with a task. One whose process died continues, as far as the client may continue it. Rejects with `AGENT_NOT_FOUND`. */
  async get(taskId: string): Promise<TaskView> {
    const { view } = await this.find(taskId)
    return isOver(await view.read()) ? view : this.#awake(view)
  }

  /** Resolves with the tool and the view of a task. Rejects with `AGENT_NOT_FOUND`. */
  async find(taskId: string): Promise<{ readonly tool: AgentTool; readonly view: TaskView }> {
    const place = taskPlace(taskId)
    if (place === undefined) throw noTask(taskId)
    const access = this.#access
    try {
      const agent = await access.reading(place.agentId)
      const tool = this.#tools.get(agent.definition)
      if (tool !== undefined && agent.path.length === 0 && (await access.wasAsked(agent, place.requestId)))
        return { tool, view: this.#at(tool, agent, place.requestId) }
    } catch (thrown) {
      // Who may not know of it is told the same as of one that there is not.
      if (!hasCode(thrown, 'AGENT_NOT_FOUND') && !hasCode(thrown, 'BRIDGE_FORBIDDEN')) throw thrown
    }
    throw noTask(taskId)
  }

  /** Resolves with the task once it is cancelled. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`, `INVALID_OPTION` if the task is over. */
  async cancel(taskId: string, signal: AbortSignal): Promise<McpTask> {
    const access = this.#access
    access.must('talk', 'tasks/cancel')
    const { tool, view } = await this.find(taskId)
    const before = await view.read()
    if (isOver(before)) throw isOverAlready(taskId, before.status)
    const { agentId, requestId } = view.place
    const agent = await access.driven(agentId)
    try {
      agent.dispatch({ type: 'agent.abort', agentId, run: requestId })
    } catch (thrown) {
      throw isOverAlready(taskId, messageOf(thrown))
    }
    await followRun({ access, agent, definition: tool.definition }, requestId, signal)
    return this.#at(tool, agent, requestId).read()
  }

  /** Returns a page of tasks, those of the most recently written session first. `cursor`: end of the page before. Rejects with `BRIDGE_FORBIDDEN`. */
  async list(cursor: string | undefined): Promise<{ readonly tasks: McpTask[]; readonly nextCursor?: string }> {
    const access = this.#access
    access.must('see.messages', 'tasks/list')
    const limit = sessionsOnPage + 1
    const ids = await access.sessionIds({ isRoot: true }, { limit, ...(cursor === undefined ? {} : { after: cursor }) })
    if (ids === undefined) throw new RuntimeError('INVALID_OPTION', `cursor: there is no place "${cursor}".`)
    const page = ids.slice(0, sessionsOnPage)
    const tasks: McpTask[] = []
    for (const id of page) tasks.push(...(await this.#tasksOf(id)))
    return { tasks, ...(ids.length > page.length ? { nextCursor: page.at(-1)! } : {}) }
  }

  async #tasksOf(agentId: string): Promise<readonly McpTask[]> {
    const agent = await this.#access.reading(agentId)
    const tool = this.#tools.get(agent.definition)
    if (tool === undefined) return []
    const tasks: McpTask[] = []
    for (const requestId of await this.#requestsOf(agent)) tasks.push(await this.#at(tool, agent, requestId).read())
    return tasks.toReversed()
  }

  async #requestsOf({ id }: DrivenAgent): Promise<readonly string[]> {
    const ids = new Set<string>()
    for await (const record of this.#access.records(id))
      if (record.type === 'run.start' && record.requestId !== undefined && record.resumedFrom === undefined)
        ids.add(record.requestId)
    return [...ids]
  }

  async #lastRequest(agent: DrivenAgent): Promise<string> {
    await agent.durable()
    const last = (await this.#requestsOf(agent)).at(-1)
    if (last !== undefined) return last
    throw new RuntimeError('INVALID_OPTION', `The session "${agent.id}" has not been asked anything yet.`)
  }

  async #agentFor({ definition: { name } }: AgentTool, given: string | undefined): Promise<DrivenAgent> {
    const id = given === undefined ? undefined : `${name}-${given}`
    try {
      return await this.#access.begin(name, id === undefined ? {} : { id })
    } catch (thrown) {
      if (id === undefined || !hasCode(thrown, 'AGENT_EXISTS')) throw thrown
      return this.#access.driven(id)
    }
  }

  async #awake(view: TaskView): Promise<TaskView> {
    const access = this.#access
    if (!access.may('talk')) return view
    const { agentId, requestId } = view.place
    const agent = await access.driven(agentId)
    if (agent.pause?.type === 'interrupted' && access.may('control'))
      agent.dispatch({ type: 'agent.resume', agentId }, { requestId: access.newId() })?.result.catch(() => {})
    return this.#at(this.#tools.get(agent.definition)!, agent, requestId)
  }

  #at({ definition }: AgentTool, agent: DrivenAgent, requestId: string): TaskView {
    const place: TaskPlace = { agentId: agent.id, requestId }
    return new TaskView(place, agent, this.#access, definition)
  }
}

const noTask = (taskId: string): RuntimeError =>
  new RuntimeError('AGENT_NOT_FOUND', `There is no task ${JSON.stringify(taskId)}.`)

const isOverAlready = (taskId: string, how: string): RuntimeError =>
  new RuntimeError('INVALID_OPTION', `The task "${taskId}" cannot be cancelled: ${how}.`)

const digestOf = (once: unknown): string | undefined =>
  typeof once !== 'string' || once.length < uniqueLength
    ? undefined
    : createHash('sha256').update(once).digest('hex').slice(0, 32)
