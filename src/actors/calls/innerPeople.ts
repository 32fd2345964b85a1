import type { z } from 'zod'
import type { CallInput } from '../../machines/effectTypes.ts'
import { sameJson } from '../../protocol/checks/sameJson.ts'
import type { InnerDecision } from '../../protocol/parts/inner/innerDecisions.ts'
import type { AgentPorts } from '../agentPorts.ts'
import type { InnerCalls } from '../tools/innerCalls.ts'
import { Asking } from './asking.ts'
import { clean } from './resultContent.ts'
import type { OuterCall } from './toolAttempt.ts'

/** Asks people on behalf of one running call, about calls that it makes and about its actions elsewhere. */
export class InnerPeople {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly #outer: OuterCall
  /** Earlier decisions that have not been asked for again. */
  readonly #decided: InnerDecision[]
  #approvals: number
  #questions: Asking | undefined
  /** A question whose answer may be in the log. */
  #askedAgain: string | undefined
  /** End of the last request to people, who are asked one thing at a time. */
  #asking: Promise<unknown> = Promise.resolve()
  /** Number of waits during which the time of the running call stands still. */
  #stills = 0

  constructor(ports: AgentPorts, input: CallInput, outer: OuterCall) {
    this.#ports = ports
    this.#input = input
    this.#outer = outer
    this.#decided = [...(input.decided ?? [])]
    this.#approvals = this.#decided.length
  }

  /** Waits for work that is not the running call's own. The time of the running call stands still meanwhile. */
  async still<T>(work: () => Promise<T>): Promise<T> {
    this.#stills += 1
    this.#outer.paused()
    try {
      return await work()
    } finally {
      this.#stills -= 1
      if (this.#stills === 0) this.#outer.resumed()
    }
  }

  /** Waits for people, after everything that already waits for them. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#asking.then(() => {
      this.#outer.signal.throwIfAborted()
      return this.still(work)
    })
    this.#asking = turn.catch(() => {})
    return turn
  }

  /** Asks people to approve an action that the running call wants to take elsewhere, or returns their earlier decision about it. */
  approve(asked: Parameters<InnerCalls['approve']>[0]): ReturnType<InnerCalls['approve']> {
    const input = clean(this.#ports, asked.input)
    const at = this.#decided.findIndex((decided) => sameJson(decided.asked, input))
    const [known] = at < 0 ? [] : this.#decided.splice(at, 1)
    if (known !== undefined) return Promise.resolve(known)
    this.#approvals += 1
    const { callId, key } = this.#input
    const place = `p${this.#approvals}`
    const request = { ...asked, callId: `${callId}/${place}`, key: `${key}/${place}` }
    return this.inTurn(() => this.#ports.approve(key, request, this.#outer.signal))
  }

  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain: boolean): Promise<z.output<Schema>> {
    if (isAgain) this.#askedAgain = clean(this.#ports, question)
    this.#questions ??= new Asking(this.#ports, this.#input, {
      ...this.#outer,
      take: (asked) => {
        const last = this.#input.answers?.at(-1)
        if (this.#askedAgain !== asked || last?.question !== asked) return undefined
        this.#askedAgain = undefined
        return last
      },
    })
    return this.#questions.ask(schema, question)
  }
}
