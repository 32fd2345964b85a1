import { isNestedDeeper, mostLevels } from '../../protocol/checks/nesting.ts'
import { zodJson } from '../../protocol/checks/zodJson.ts'
import type { z } from 'zod'
import type { CallInput } from '../../machines/effectTypes.ts'
import { describeIssues, messageOf, RuntimeError, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { JsonSchema } from '../../protocol/ports/model.ts'
import type { Answer, Question } from '../../protocol/questions.ts'
import { isRedacted } from '../../protocol/ports/redactor.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { foreignSchema } from '../tools/schemaKind.ts'

/** Asks people a question; `wrongIn` returns the fault of an answer. */
export type AskPeople = (
  question: Question,
  wrongIn: (value: unknown) => string | undefined,
  signal: AbortSignal,
) => Promise<Answer>

/** Pauses and resumes a call while its tool waits for people. */
interface WaitingCall {
  /** Aborted when the call is. */
  readonly signal: AbortSignal
  /** Called when the tool begins to wait. */
  paused(): void
  /** Called when the tool continues. */
  resumed(): void
  /** Asks people, instead of the ports. */
  readonly ask?: AskPeople | undefined
  /** Returns the logged answer to a question, instead of taking the answers in their order. */
  readonly take?: ((question: string) => Answer | undefined) | undefined
  /** Called when the store did not accept the answer. The call must not continue and is to run again. */
  unwritten(error: ErrorInfo): void
}

/**
 * The questions of one call, asked one at a time and in order. When a call runs again, the questions that were answered before it was cut
 * off get the same answers, from the log.
 */
export class Asking {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly #call: WaitingCall
  /** Answers from the log, in order, that have not been given to the call again yet. */
  readonly #logged: Answer[]
  /** Number of questions that the call has asked, including those before it was cut off. */
  #asked: number
  #last: Promise<unknown> = Promise.resolve()

  constructor(ports: AgentPorts, input: CallInput, call: WaitingCall) {
    this.#ports = ports
    this.#input = input
    this.#call = call
    this.#logged = [...(input.answers ?? [])]
    this.#asked = this.#logged.length
  }

  /** Does the work of `ToolContext.ask`. */
  async ask<Schema extends z.ZodType>(schema: Schema, question: string): Promise<z.output<Schema>> {
    const json = jsonSchemaOf(schema, question)
    const answer = this.#last.then(() => this.#answerTo(schema, json, question))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #answerTo<Schema extends z.ZodType>(schema: Schema, json: JsonSchema, text: string): Promise<z.output<Schema>> {
    let problem: string | undefined
    for (;;) {
      this.#call.signal.throwIfAborted()
      const logged = problem === undefined ? this.#first(text) : this.#takeNext(text)
      const answer = logged ?? (await this.#askPeople(schema, json, text, problem))
      if (logged !== undefined) this.#checkSame(logged, text)
      if (answer.decision === 'deny') throw denied(text, answer.reason)
      if (logged !== undefined && isRedacted(answer.value))
        problem = 'what was answered is a secret, which the log does not keep'
      else {
        const read = await schema.safeParseAsync(answer.value)
        if (read.success) return read.data
        problem = describeIssues(read.error)
      }
    }
  }

  async #askPeople(schema: z.ZodType, json: JsonSchema, text: string, problem?: string): Promise<Answer> {
    const { key } = this.#input
    this.#asked += 1
    const asked = { key: `${key}/q${this.#asked}`, question: text, schema: json }
    const question = problem === undefined ? asked : { ...asked, problem }
    this.#call.paused()
    try {
      const { ask = (...given) => this.#ports.ask(key, ...given), signal } = this.#call
      const answer = await ask(question, (value) => wrongIn(schema, value), signal)
      // What the tool does next must not be done twice, so the answer is in the log first.
      await this.#ports.durable()?.catch((thrown: unknown) => {
        this.#call.unwritten(toErrorInfo(thrown, 'STORE_APPEND_FAILED'))
        throw thrown
      })
      return answer
    } finally {
      this.#call.resumed()
    }
  }

  #first(text: string): Answer | undefined {
    const { take } = this.#call
    return take === undefined ? this.#logged.shift() : take(this.#clean(text))
  }

  /** Returns the text without secrets, as the log has it. */
  #clean(text: string): string {
    return this.#ports.redactor?.value(text) ?? text
  }

  /** Returns the next answer to the same question, which was asked again because an earlier answer could not be used. */
  #takeNext(text: string): Answer | undefined {
    const clean = this.#clean(text)
    const at = this.#logged.findIndex(({ question }) => question === clean)
    return at < 0 ? undefined : this.#logged.splice(at, 1)[0]
  }

  #checkSame(logged: Answer, text: string): void {
    const clean = this.#clean(text)
    if (logged.question === clean) return
    const what = `Call "${this.#input.callId}" asked ${JSON.stringify(logged.question)} when it first ran`
    throw new RuntimeError('QUESTION_CHANGED', `${what}, and ${JSON.stringify(clean)} when it ran again.`)
  }
}

const denied = (question: string, reason: string | undefined): RuntimeError => {
  const why = reason === undefined ? '' : ` Reason: ${reason}`
  return new RuntimeError('QUESTION_DENIED', `Nobody answers ${JSON.stringify(question)}.${why}`)
}

/** Returns the problem with an answer; `undefined` if there is none, or if only the tool can tell because its check is asynchronous. */
function wrongIn(schema: z.ZodType, value: unknown): string | undefined {
  try {
    const read = schema.safeParse(value)
    return read.success ? undefined : describeIssues(read.error)
  } catch {
    return undefined
  }
}

/** Maximum lengths of a question and a schema, which go into one record and onto a screen. */
const maxQuestionChars = 20_000

/** Returns the JSON Schema for the answer to a question. @throws RuntimeError `QUESTION_INVALID` */
function jsonSchemaOf(schema: unknown, question: unknown): JsonSchema {
  const refuse = (what: string, cause?: unknown): RuntimeError =>
    new RuntimeError('QUESTION_INVALID', `${what}.`, { cause })
  if (typeof question !== 'string' || question.trim() === '')
    throw refuse(`A question is a text that is not empty, not ${JSON.stringify(question) ?? typeof question}`)
  if (question.length > maxQuestionChars)
    throw refuse(`The question has ${question.length} characters, more than ${maxQuestionChars}`)
  if (typeof schema !== 'object' || schema === null || !('_zod' in schema))
    throw refuse(
      `The answer to ${JSON.stringify(question)} has no schema: ${foreignSchema(schema) ?? 'give one of zod'}`,
    )
  const json = jsonOf(schema as z.ZodType, (thrown) =>
    refuse(`The answer to ${JSON.stringify(question)} cannot be JSON: ${messageOf(thrown)}`, thrown),
  )
  if (isNestedDeeper(json, mostLevels)) throw refuse(`The schema is nested deeper than ${mostLevels} levels`)
  if (isImpossible(json)) throw refuse(`No answer to ${JSON.stringify(question)} can fit its schema`)
  const chars = JSON.stringify(json).length
  if (chars > maxQuestionChars) throw refuse(`The schema has ${chars} characters, more than ${maxQuestionChars}`)
  return json
}

function jsonOf(schema: z.ZodType, refusal: (thrown: unknown) => RuntimeError): JsonSchema {
  try {
    const { $schema: _, ...json } = zodJson(schema)
    return JSON.parse(JSON.stringify(json)) as JsonSchema
  } catch (thrown) {
    throw refusal(thrown)
  }
}

const schemasIn = (value: unknown): JsonSchema[] => (Array.isArray(value) ? (value as JsonSchema[]) : [])

/** Returns true if no value matches the schema: it is the schema of `z.never()`, or requires a part with such a schema. */
function isImpossible({ not, enum: values, anyOf, oneOf, allOf, required, properties }: JsonSchema): boolean {
  if (typeof not === 'object' && not !== null && Object.keys(not).length === 0) return true
  if (Array.isArray(values) && values.length === 0) return true
  const choices = schemasIn(anyOf ?? oneOf)
  if (choices.length > 0 && choices.every(isImpossible)) return true
  if (schemasIn(allOf).some(isImpossible)) return true
  const parts = (properties ?? {}) as { readonly [name: string]: JsonSchema | undefined }
  return Array.isArray(required) && required.some((name: string) => isImpossible(parts[name] ?? {}))
}
