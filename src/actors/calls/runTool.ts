import { lessonOf } from '../../conversation/brakes/lessons/lessons.ts'
import type { CallInput, CallOutput } from '../../machines/effectTypes.ts'
import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import { errorInfo, messageOf, toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import { sameJson } from '../../protocol/checks/sameJson.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import type { PlainBlock } from '../../protocol/messages.ts'
import { afterTool } from './afterTool.ts'
import { isDeferred, withDeclaration } from '../parts/calls.ts'
import { keepAll, keptOutcome, outcomeOfTool } from '../parts/results.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import { isIgnored } from './lessonTools.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { effect } from '../effect.ts'
import { failure, withinSize, type Outcome } from './outcome.ts'
import { clean, textBlock, printedSoFar } from './resultContent.ts'
import { concluded } from './resultData.ts'
import { innerEffects } from '../../protocol/parts/inner/innerState.ts'
import { StartQueue } from '../timing/startQueue.ts'
import { CallsOfCall } from './callsOfCall.ts'
import { ToolAttempt } from './toolAttempt.ts'
import { whenDone } from '../timing/whenDone.ts'
import { SourceTool } from '../tools/sourceTool.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import { ConcludedValue, appData, type ToolValue } from '../tools/toolValue.ts'
import { isOwn } from '../tools/ownTools.ts'

/** The effect of one tool call. Any fault of the tool becomes an error result that the model can read. */
export const runTool = (find: FindPorts) => {
  const starts = new WeakMap<AgentPorts, StartQueue>()
  return effect<CallOutput, CallInput>((input, cancellation) => {
    const ports = find(input.agentId)
    let queue = starts.get(ports)
    if (queue === undefined) starts.set(ports, (queue = new StartQueue()))
    return queue.run(() => whenWritten(ports, input, cancellation))
  })
}

/** Begins the call once its record is written, at least a tick later, when the machine's step that starts the call has ended. */
const whenWritten = (ports: AgentPorts, input: CallInput, cancellation: Cancellation): Promise<CallOutput> =>
  (ports.durable() ?? written).then(
    () => begin(ports, input, cancellation),
    (thrown: unknown) => notStarted(ports, input.key, toErrorInfo(thrown, 'STORE_APPEND_FAILED')),
  )

const written = Promise.resolve()

function begin(ports: AgentPorts, input: CallInput, cancellation: Cancellation): CallOutput | Promise<CallOutput> {
  if (cancellation.aborted) return notStarted(ports, input.key, errorInfo('ABORTED', 'The call was aborted.'))
  // What others learn while it runs came too late.
  const lesson = lessonFor(ports, input)
  const called = whenDone(call(ports, input, cancellation), (outcome) =>
    outcome.keeping === undefined || cancellation.aborted ? outcome : keepAll(outcome, ports),
  )
  const kept = whenDone(called, (outcome) => (cancellation.aborted ? outcome : concluded(outcome, input.name, ports)))
  return whenDone(kept, (outcome) => {
    const { key } = input
    const at = ports.clock.now()
    if (outcome.notStarted !== undefined) return notStarted(ports, key, outcome.notStarted)
    // It is no longer needed.
    if (cancellation.aborted) return { key, content: [], isError: true, tokens: 0, at }
    const { content, isError, pins, keeping: _, ...more } = withinSize(withLesson(outcome, lesson))
    return {
      key,
      content,
      isError,
      tokens: estimate(ports, input, content),
      at,
      ...more,
      ...(more.hook === undefined && saysItself(ports, input) ? { ofRuntime: true } : {}),
      ...(pins === undefined || isError ? {} : { pins }),
    }
  })
}

function saysItself({ definition }: AgentPorts, { name }: CallInput): boolean {
  const tool = definition.tools.get(name)
  return tool !== undefined && isOwn(tool)
}

/** Returns the outcome of an earlier identical call in one line: by this agent on an abandoned branch, else by another agent in its group. */
function lessonFor(ports: AgentPorts, { name, input }: CallInput): string | undefined {
  const lessons = ports.definition.braking?.lessons
  if (lessons == null || isIgnored(ports.definition, name)) return undefined
  // As the log has it: what must not be kept is not compared.
  const made = clean(ports, { name, input })
  return lessonOf(ports.conversation, made) ?? ports.lessonOfOthers?.(made)
}

const withLesson = (outcome: Outcome, lesson: string | undefined): Outcome =>
  lesson === undefined ? outcome : { ...outcome, content: [...outcome.content, textBlock(lesson)], hasLesson: true }

const notStarted = (ports: AgentPorts, key: string, error: ErrorInfo): CallOutput => ({
  key,
  content: [],
  isError: true,
  tokens: 0,
  at: ports.clock.now(),
  notStarted: error,
})

/** Returns the estimated tokens that a result takes up in the context. */
export const estimate = (
  { conversation }: AgentPorts,
  { callId, name }: Pick<CallInput, 'callId' | 'name'>,
  content: readonly PlainBlock[],
): number =>
  Math.round(
    conversation.correction *
      conversation.counter.message({ role: 'toolResult', callId, toolName: name, content, isError: false }),
  )

/** Maximum length of a client's result for a tool that no longer exists, in UTF-16 units. */
export const maxReturnedChars = 30_000

function call(ports: AgentPorts, input: CallInput, cancellation: Cancellation): Outcome | Promise<Outcome> {
  const { tools } = ports.definition
  if (input.returned !== undefined) {
    const { large, given, ...returned } = input.returned
    const tool = tools.get(input.name)
    const maxChars = tool?.maxOutputChars ?? maxReturnedChars
    const shown = large === undefined ? returned : keptOutcome(large.value, maxChars, ports)
    const whole = given === undefined ? shown : givenOutcome(ports, input, given, shown)
    return whenDone(whole, (outcome) => afterTool<Outcome>(ports, input, outcome, cancellation))
  }
  const tool = tools.get(input.name)
  if (tool === undefined) {
    const names = [...tools.keys()].filter((name) => !isDeferred(ports.definition, name)).join(', ')
    return failure(`There is no tool "${input.name}". ${names === '' ? 'You have no tools.' : `Your tools: ${names}.`}`)
  }
  if (!(tool instanceof SourceTool)) return callTool(ports, input, tool, cancellation)
  return whenDone(tool.bind(cancellation), (bound) =>
    typeof bound === 'string' ? failure(bound) : callTool(ports, input, bound, cancellation),
  )
}

/** Returns the outcome for a value that a client returned, with the data that came with it. */
async function givenOutcome(
  ports: AgentPorts,
  input: CallInput,
  { value, data }: NonNullable<NonNullable<CallInput['returned']>['given']>,
  shown: Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const given = data === undefined ? undefined : new Map([['', data]])
  const tool = ports.definition.tools.get(input.name)
  try {
    const failed = (what: string, thrown: unknown): void => ports.callbackFailed?.(what, thrown)
    const made = await tool?.conclude?.(value, { callId: input.callId, input: input.input, failed })
    const outcome = await (made === undefined ? shown : keptOutcome(made.shown, tool!.maxOutputChars, ports))
    return outcome.isError ? outcome : { ...outcome, ...clean(ports, appData(made ?? {}, given, outcome)) }
  } catch (thrown) {
    return failure(clean(ports, messageOf(thrown)))
  }
}

const parts: ConstructorParameters<typeof ToolAttempt>[4] = {
  inner: (ports, input, outer) => new CallsOfCall(ports, input, outer),
}

/** Returns why a tool failed. For a tool that was cut off, it includes the calls and the output until then. */
function whyFailed(ports: AgentPorts, { callId }: CallInput, thrown: unknown): string {
  const printed = ports.printed.get(callId)
  ports.printed.delete(callId)
  const made = ports.parts.inner?.[callId]
  if (printed === undefined) return messageOf(thrown)
  const calls = made === undefined ? '' : ` It had made ${innerEffects(made).calls}.`
  return messageOf(thrown) + calls + printedSoFar(printed, ports.redactor)
}

/** Error for a call that would now do something other than what was decided about, for example because of a new link. */
const leadsElsewhere =
  'Not run: these arguments stand for something else than when it was decided about them. Look again, and call again.'

function callTool(
  ports: AgentPorts,
  input: CallInput,
  tool: AnyTool,
  cancellation: Cancellation,
): Outcome | Promise<Outcome> {
  // The log keeps the input, so a tool must not be able to change it.
  const parsed = tool.parse(typeof input.input === 'string' ? clean(ports, input.input) : cloneJson(input.input))
  if (!parsed.ok) return failure(withDeclaration(ports.definition, input.name, parsed.message))
  if (tool.isCanonical === true && !sameJson(parsed.value, input.input)) return failure(leadsElsewhere)
  const attempt = new ToolAttempt(ports, input, tool, cancellation, parts)
  const outcomeOf = outcomeOfTool(tool.name)
  const failed = (thrown: unknown): Outcome | Promise<Outcome> => {
    if (isLikelyBug(thrown) && !cancellation.aborted) ports.callbackFailed?.(`The tool "${tool.name}"`, thrown)
    return whenDone(outcomeOf(whyFailed(ports, input, thrown), tool.maxOutputChars, ports), (outcome) =>
      attempt.end({ ...outcome, isError: true }),
    )
  }
  const shown = (value: unknown, data?: ToolValue): Outcome | Promise<Outcome> => {
    try {
      const outcome = outcomeOf(value, tool.maxOutputChars, ports)
      return outcome instanceof Promise
        ? outcome.then((one) => attempt.end(one, data), failed)
        : attempt.end(outcome, data)
    } catch (thrown) {
      return failed(thrown)
    }
  }
  const ended = (value: unknown): Outcome | Promise<Outcome> =>
    value instanceof ConcludedValue ? shown(value.value.shown, value.value) : shown(value)
  let outcome: Outcome | Promise<Outcome>
  try {
    const value = attempt.run(parsed.value)
    outcome = value instanceof Promise ? value.then(ended, failed) : ended(value)
  } catch (thrown) {
    outcome = failed(thrown)
  }
  if (ports.definition.hooks === null) return outcome
  return whenDone(outcome, (came) =>
    came.notStarted === undefined ? afterTool(ports, input, came, cancellation) : came,
  )
}
