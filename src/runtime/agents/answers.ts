import type { AgentPorts } from '../../actors/agentPorts.ts'
import { clientResult, type ClientOutcome } from '../../actors/calls/clientResult.ts'
import { settledInput } from '../../actors/calls/callArguments.ts'
import { taskOf } from '../../actors/define/subAgents.ts'
import type { CallReturn } from '../../machines/effectTypes.ts'
import type { PendingOf } from '../../protocol/runs/pending.ts'
import type { Answer, Question } from '../../protocol/questions.ts'
import type { RecordDraft } from '../../protocol/records.ts'
import type { PeoplesAnswers } from '../children/treeAgent.ts'

type Approval = Awaited<ReturnType<AgentPorts['approve']>>

interface OpenQuestion {
  readonly question: string
  readonly wrongIn: (value: unknown) => string | undefined
  resolve(answer: Answer): void
}

/** People's answers to the calls of one agent. Checks them against the questions, and passes them on to the tools that wait. */
export class Answers implements PeoplesAnswers {
  readonly #ports: AgentPorts
  /** Questions of running tools, by key. */
  readonly #open = new Map<string, OpenQuestion>()
  /** Inner calls that wait for an approval, by key. */
  readonly #approvals = new Map<string, (approval: Approval) => void>()
  /** Keys that were decided, but whose decision is not in the log yet. */
  readonly #decided = new Set<string>()

  constructor(ports: AgentPorts) {
    this.#ports = ports
  }

  /** Resolves with the answer to a question. Rejects with the signal's reason if it aborts first. */
  wait({ key, question }: Question, wrongIn: OpenQuestion['wrongIn'], signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#open.delete(key)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      const answered = (answer: Answer): void => {
        signal.removeEventListener('abort', abort)
        resolve(answer)
      }
      this.#open.set(key, { question, wrongIn, resolve: answered })
    })
  }

  /** Resolves with the decision about an inner call. Rejects with the signal's reason if it aborts first. */
  waitForApproval(key: string, signal: AbortSignal): Promise<Approval> {
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#approvals.delete(key)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#approvals.set(key, (approval) => {
        signal.removeEventListener('abort', abort)
        resolve(approval)
      })
    })
  }

  /** Returns true if a key was decided a moment ago, because the machine may be in the middle of a step. */
  isDecided(key: string): boolean {
    return this.#decided.has(key)
  }

  decided(key: string): void {
    this.#decided.add(key)
  }

  /** Processes the next records, before secrets are removed from them. */
  take(records: readonly RecordDraft[]): void {
    for (const record of records) this.#take(record)
  }

  #take(record: RecordDraft): void {
    if (record.type === 'run.end') this.#decided.clear()
    else if (record.type === 'approval.decided') this.#decide(record)
    else if (record.type === 'tool.end') this.#decided.delete(record.key)
    else if (record.type === 'question.answered') {
      const { key, decision, value, reason } = record
      this.#decided.delete(key)
      const open = this.#open.get(key)
      this.#open.delete(key)
      const given = { ...(value === undefined ? {} : { value }), ...(reason === undefined ? {} : { reason }) }
      open?.resolve({ question: open.question, decision, ...given })
    }
  }

  #decide({ key, decision, reason, input }: Extract<RecordDraft, { type: 'approval.decided' }>): void {
    this.#decided.delete(key)
    const decided = this.#approvals.get(key)
    this.#approvals.delete(key)
    decided?.({ decision, ...(reason === undefined ? {} : { reason }), ...(input === undefined ? {} : { input }) })
  }

  /**
   * Returns the fault of the answer to a question; `undefined` if there is none, or if no tool waits for it. A tool
   * that runs again checks the answer with its own schema, which says more than the log's copy, and asks again.
   */
  wrongInAnswer({ key }: PendingOf<'question'>, value: unknown): string | undefined {
    return this.#open.get(key)?.wrongIn(value)
  }

  /** Returns arguments that a person edited, in the form passed to the tool or agent. */
  settled({ name }: PendingOf<'approval'>, input: unknown): unknown {
    return settledInput(this.#ports.definition, { name, input })
  }

  /** Returns the fault of arguments that a person edited; `undefined` if there is none. */
  wrongInInput({ name }: PendingOf<'approval'>, input: unknown): string | undefined {
    const { tools, agents } = this.#ports.definition
    const tool = tools.get(name)
    const agent = agents.get(name)
    const read = tool?.parse(input) ?? (agent === undefined ? undefined : taskOf(agent, input))
    if (read === undefined) return `there is no tool "${name}"`
    return read.ok ? undefined : read.message
  }

  /** Returns the result, for the model, of a call that a client carried out. */
  resultOf(call: PendingOf<'call'>, given: ClientOutcome): CallReturn {
    return clientResult(this.#ports, call, this.#ports.definition.tools.get(call.name), given)
  }
}
