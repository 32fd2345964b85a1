import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { isRedacted } from '../../protocol/ports/redactor.ts'
import type { InnerRequest } from '../../protocol/parts/inner/innerDecisions.ts'
import type { CallInput, CallVerdict } from '../../machines/effectTypes.ts'
import { effectsIn } from '../../protocol/callEffects.ts'
import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { sameJson } from '../../protocol/checks/sameJson.ts'
import { messageOf, toErrorInfo } from '../../protocol/errors.ts'
import type { Spent } from '../../protocol/records.ts'
import type { InnerEnd, InnerStart } from '../../protocol/parts/inner/innerState.ts'
import type { PartDraft } from '../../machines/partStates.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { Cancellation } from '../timing/cancellation.ts'
import type { Callee } from '../define/agentDefinition.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import type { InnerCall, InnerCalls, InnerResult } from '../tools/innerCalls.ts'
import { SourceTool } from '../tools/sourceTool.ts'
import { ConcludedValue } from '../tools/toolValue.ts'
import { settledInput, checkArguments } from './callArguments.ts'
import { afterTool } from './afterTool.ts'
import { verdictOn } from './askHook.ts'
import { maxAnswerChars } from './openChild.ts'
import { clean, contentOf } from './resultContent.ts'
import { readJson } from './resultData.ts'
import {
  agentEnd,
  allowedBy,
  codeOf,
  failed,
  interrupted,
  keptEnd,
  outOfTime,
  ownEnd,
  reviewedEnd,
  shownOf,
  unwritten,
  valueOf,
  whyNotCallable,
  type Allowed,
  type End,
  type Permitted,
} from './innerEnds.ts'
import { InnerPeople } from './innerPeople.ts'
import { dueInput, InnerSleeps } from './innerSleep.ts'
import { ToolAttempt, type OuterCall } from './toolAttempt.ts'

/** A call in progress. */
interface Made {
  readonly call: InnerCall
  /** The call in the form that hooks and tools get. */
  readonly input: CallInput
}

const changedMeaning =
  'Not run: these arguments stand for something else than when it was decided about them. Look again, and call again.'

/** The calls that one running call makes. */
export class CallsOfCall implements InnerCalls {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly key: string
  readonly #outer: OuterCall
  readonly #known: ReadonlyMap<number, InnerStart>
  readonly starts: InnerCalls['starts']
  readonly #ends: readonly InnerEnd[]
  readonly #people: InnerPeople
  readonly #sleeps: InnerSleeps

  constructor(ports: AgentPorts, input: CallInput, outer: OuterCall) {
    this.#ports = ports
    this.#input = input
    this.key = input.key
    this.#outer = outer
    this.#sleeps = new InnerSleeps(ports, input.key)
    const made = ports.parts.inner?.[input.callId]
    const unstarted = made?.ends.flatMap(({ n, name, asked }) => (asked === undefined ? [] : [{ n, name, ...asked }]))
    this.starts = [...(made?.starts ?? []), ...(unstarted ?? [])]
    this.#ends = made?.ends ?? []
    this.#people = new InnerPeople(ports, input, outer)
    this.#known = new Map(made?.starts.map((start) => [start.n, start]))
  }

  ends(): Promise<readonly InnerResult[]> {
    return Promise.all(this.#ends.map(async (end) => ({ ...end, ...(await this.#valueApart(end)) })))
  }

  async #valueApart({ n, apart }: InnerEnd): Promise<Pick<InnerResult, 'value'>> {
    if (apart === undefined) return {}
    const value = await readJson(apart, this.#ports)
    if (value === undefined)
      throw new Error(`The result of call ${n}, which is kept beside the log, is no longer there.`)
    return { value }
  }

  get begun(): number | undefined {
    return this.starts[0]?.begun
  }

  print(input: unknown): string {
    return createHash('sha256')
      .update(JSON.stringify(clean(this.#ports, { input })))
      .digest('hex')
      .slice(0, 32)
  }

  async call(call: InnerCall, ended: (result: InnerResult) => void): Promise<void> {
    const { n, name } = call
    const { callId, key } = this.#input
    const { answers: _, decided: __, ...outer } = this.#input
    const mine = `${key}/c${n}`
    const answers = this.#input.answers?.filter((answer) => answer.key?.startsWith(`${mine}/`) === true) ?? []
    const input: CallInput = {
      ...outer,
      callId: `${callId}/${n}`,
      key: mine,
      name,
      input: call.input,
      ...(answers.length === 0 ? {} : { answers }),
    }
    const came = await this.#sleeps.during(() => this.#endOf({ call, input }))
    if (came === undefined) return
    const end = clean(this.#ports, came)
    const kept = await keptEnd(this.#ports, end)
    this.#outer.signal.throwIfAborted()
    const at = this.#ports.clock.now()
    this.#ports.record([{ type: 'inner.end', callId, key: mine, n, name, at, ...kept }])
    const { value, error } = end
    ended({ n, at, ...(error === undefined ? { value } : { error }) })
    await this.#durable()
  }

  async approve(asked: Parameters<InnerCalls['approve']>[0]): ReturnType<InnerCalls['approve']> {
    const decided = await this.#people.approve(asked)
    // What follows from it must not be done twice.
    await this.#durable()
    return decided
  }

  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain: boolean): Promise<z.output<Schema>> {
    return this.#people.ask(schema, question, isAgain)
  }

  async record(records: readonly PartDraft[]): Promise<void> {
    this.#ports.record(records)
    await this.#durable()
  }

  used(spent: Spent): void {
    this.#outer.used(spent)
  }

  /** Resolves with the end of a call; `undefined` for a sleep that nothing waits for. */
  async #endOf(made: Made): Promise<End | undefined> {
    const { call } = made
    const known = this.#known.get(call.n)
    if (known !== undefined) return this.#again(made, known)
    const allowed = await this.#allowed(made)
    if ('end' in allowed) {
      const { print, begun } = call
      return { asked: { input: call.input, print, begun }, ...this.#within(allowed.end, call) }
    }
    const { input } = allowed
    // The record of its start is made with the sub-agent.
    if (this.#agentOf(made) !== undefined) return this.#runAgent(made, allowed)
    await this.#start(call, allowed)
    return call.due === undefined ? this.#run(made, input) : this.#wait(call, input)
  }

  printed(text: string | undefined): void {
    const { printed } = this.#ports
    const { callId } = this.#input
    if (text === undefined) printed.delete(callId)
    else printed.set(callId, text)
  }

  idle(isIdle: boolean): void {
    this.#sleeps.idle(isIdle)
  }

  over(): void {
    this.#sleeps.over()
  }

  #wait({ n }: InnerCall, input: unknown): Promise<End | undefined> {
    const { signal } = this.#outer
    return this.#people.still(() => this.#sleeps.wait(n, input, signal))
  }

  #agentOf({ input: { name } }: Made): Callee | undefined {
    return this.#ports.definition.agents.get(name)
  }

  /** Continues a call that was cut off. It runs again if that does no harm, or if its tool had only asked people. */
  async #again(made: Made, { input }: InnerStart): Promise<End | undefined> {
    const { name, answers } = made.input
    if (made.call.due !== undefined) return this.#wait(made.call, input)
    // Its own log says what it had done.
    if (this.#agentOf(made) !== undefined && !isRedacted(input)) return this.#runAgent(made, { input })
    const effects = this.#ports.definition.tools.get(name)?.effects
    const mayRun = effects === 'none' || effects === 'idempotent' || answers !== undefined
    if (!mayRun || isRedacted(input)) return interrupted
    return this.#run(made, input)
  }

  /** Checks whether a call may run, by its arguments, the rules, the hook and people. */
  async #allowed({ call, input: made }: Made): Promise<Allowed> {
    const { definition, deadline, clock } = this.#ports
    const { name, own, due } = call
    if (deadline !== null && clock.now() >= deadline) return { end: outOfTime }
    if (own !== undefined) return { end: await ownEnd(own) }
    if (due !== undefined) return dueInput(due, clock.now())
    const refused = whyNotCallable(definition, name)
    if (refused !== undefined) return { end: refused }
    let input: unknown
    try {
      input = settledInput(definition, { name, input: cloneJson(call.input) })
    } catch (thrown) {
      return { end: failed(messageOf(thrown), 'INVALID_INPUT') }
    }
    const checked = checkArguments(this.#ports, name, input)
    if (checked?.ok === false) return { end: failed(checked.message, 'INVALID_INPUT') }
    const decided = this.#input.decided?.find(({ key, asked }) => key === made.key && sameJson(asked, input))
    if (decided !== undefined) return allowedBy(decided, input)
    const verdict = await this.#verdict({ ...made, input })
    switch (verdict.type) {
      case 'refused':
        return { end: failed(verdict.text, 'DENIED') }
      case 'mistaken':
        return { end: failed(verdict.text) }
      case 'denied':
        return { end: failed(`Denied by the application: it was not run. Reason: ${verdict.reason}`, 'DENIED') }
      case 'failed':
        return { end: failed(`Not run: it could not be checked. ${verdict.error.message}`, 'UNCHECKED') }
      case 'answered':
        return { end: { value: valueOf(verdict.content) } }
      case 'allowed':
      case 'edited': {
        const settled = verdict.type === 'edited' ? verdict.input : input
        const { rule, suggest } = verdict
        const by = rule === undefined ? {} : { rule }
        if (!verdict.needsApproval) return { input: settled, ...by }
        return this.#approved(made, settled, {
          ...by,
          ...(suggest === undefined ? {} : { suggest: [...suggest] }),
        })
      }
    }
  }

  #verdict(made: CallInput): Promise<CallVerdict> {
    return verdictOn(this.#ports, { ...made, callKey: made.key }, Cancellation.of(this.#outer.signal))
  }

  async #approved(
    { callId, key, name }: CallInput,
    input: unknown,
    ruled: Pick<InnerRequest, 'rule' | 'suggest'>,
  ): Promise<Allowed> {
    const request: InnerRequest = {
      callId,
      key,
      name,
      input,
      ...(this.#isIrreversible(name) ? { irreversible: true } : {}),
      ...ruled,
    }
    const { signal } = this.#outer
    const decided = await this.#people.inTurn(() => this.#ports.approve(this.#input.key, request, signal))
    return { ...allowedBy(decided, input), ...(ruled.rule === undefined ? {} : { rule: ruled.rule }) }
  }

  #isIrreversible(name: string): boolean {
    return this.#ports.definition.policy.irreversible.includes(name)
  }

  /** Has a sub-agent carry out the call. The sub-agent has its own limits, so the time of the running call stands still. */
  async #runAgent({ call, input: made }: Made, { input, rule }: Permitted): Promise<End> {
    const { n, name, print, begun } = call
    const { callId, key } = made
    const logged = clean(this.#ports, input)
    const asked = { n, callId, key, name, input, logged, print, begun, ...(rule === undefined ? {} : { rule }) }
    const { signal } = this.#outer
    const output = await this.#people.still(() => this.#ports.children!.call(this.#input.key, asked, signal))
    const said = agentEnd(this.#ports.definition.agents.get(name), output)
    if (!this.#hasHook) return this.#within(said, call)
    const content = contentOf(shownOf(said), maxAnswerChars, this.#ports)
    const shown = { content, isError: said.error !== undefined }
    const reviewed = await afterTool(this.#ports, { ...made, input }, shown, Cancellation.of(signal))
    return this.#within(reviewed.hook === undefined ? said : reviewedEnd(reviewed), call)
  }

  async #start({ n, name, print, begun }: InnerCall, { input, rule }: Permitted): Promise<void> {
    this.#outer.signal.throwIfAborted()
    const { callId, key } = this.#input
    const effects = this.#ports.definition.tools.get(name)?.effects
    this.#ports.record([
      {
        type: 'inner.start',
        callId,
        key: `${key}/c${n}`,
        n,
        name,
        input,
        print,
        begun,
        ...(rule === undefined ? {} : { rule }),
        ...(effects === 'irreversible' ? { irreversible: true } : {}),
        ...(effects === 'reversible' ? { reversible: true } : {}),
      },
    ])
    await this.#durable()
  }

  async #run({ call, input: made }: Made, input: unknown): Promise<End> {
    this.#outer.signal.throwIfAborted()
    const cancellation = Cancellation.of(this.#outer.signal)
    const offered = this.#ports.definition.tools.get(call.name)
    const tool = offered instanceof SourceTool ? await offered.bind(cancellation) : offered
    if (tool === undefined || typeof tool === 'string')
      return failed(tool ?? `There is no tool "${call.name}" any more.`, 'UNKNOWN_TOOL')
    const parsed = tool.parse(cloneJson(input))
    if (!parsed.ok) return failed(parsed.message, 'INVALID_INPUT')
    if (tool.isCanonical === true && !sameJson(parsed.value, input)) return failed(changedMeaning)
    const ran = { ...made, input }
    const attempt = new ToolAttempt(this.#ports, ran, tool, cancellation, {
      ask: (question, wrongIn, signal) =>
        this.#people.inTurn(() => this.#ports.ask(this.#input.key, question, wrongIn, signal)),
    })
    const said = await this.#answerOf(attempt, parsed.value, tool)
    const content = this.#hasHook ? contentOf(shownOf(said), tool.maxOutputChars, this.#ports) : []
    const isError = said.error !== undefined
    const outcome = attempt.end({ content, isError })
    const { notStarted, data } = outcome
    if (notStarted !== undefined) throw unwritten(notStarted)
    const reviewed = await afterTool(this.#ports, ran, { content, isError }, cancellation)
    const end = reviewed.hook === undefined ? said : reviewedEnd(reviewed)
    return {
      ...this.#within(end, call),
      ...effectsIn(outcome),
      ...(data === undefined || reviewed.hook !== undefined ? {} : { data }),
    }
  }

  get #hasHook(): boolean {
    return this.#ports.definition.hooks?.afterTool !== undefined
  }

  /** Runs the tool. Never rejects. */
  async #answerOf(attempt: ToolAttempt, input: unknown, tool: AnyTool): Promise<End> {
    try {
      const value = await attempt.run(input)
      return { value: valueOf(value instanceof ConcludedValue ? (value.value.data ?? value.value.shown) : value) }
    } catch (thrown) {
      if (isLikelyBug(thrown) && !this.#outer.signal.aborted)
        this.#ports.callbackFailed?.(`The tool "${tool.name}"`, thrown)
      return failed(messageOf(thrown), codeOf(thrown))
    }
  }

  /** Returns the end without secrets. A value that is too large is replaced by an error. */
  #within(end: End, { maxChars }: InnerCall): End {
    const bare = clean(this.#ports, end)
    if (bare.error !== undefined) return bare
    const chars = JSON.stringify(bare.value).length
    return chars <= maxChars
      ? bare
      : failed(`The result has ${chars} characters, more than ${maxChars}: ask for less.`, 'TOO_LARGE')
  }

  /** Waits until the records are durable. If the store fails, the running call ends and is to run again. */
  async #durable(): Promise<void> {
    try {
      await this.#ports.durable()
    } catch (thrown) {
      this.#outer.unwritten(toErrorInfo(thrown, 'STORE_APPEND_FAILED'))
      throw thrown
    }
  }
}
