import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import type { CallVerdict, HookInput, HookOutput } from '../../machines/effectTypes.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { asSentence, hasCode, messageOf, RuntimeError, toErrorInfo } from '../../protocol/errors.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import { answerInTime } from '../timing/answerInTime.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { effect } from '../effect.ts'
import { hookedCall } from './hookedCall.ts'
import { checkArguments, settledInput } from './callArguments.ts'
import { clean, contentOf } from './resultContent.ts'
import { mistakeIn, needsApproval } from './needsApproval.ts'
import { syncOnce } from '../parts/permissions/syncRules.ts'
import { judgeCall, suggestionsFor, unjudged, whenAsked, whyNotRun } from '../parts/permissions/judgeCall.ts'
import { runContext } from './runContext.ts'

const longestReason = 2_000
const maxAnswerChars = 30_000

/** The effect before a call: asks the rules, then `beforeTool`, whether the call may run. Any failure means that it may not. */
export const askHook = (find: FindPorts) =>
  effect<HookOutput, HookInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { key } = input
    const nothing = { key, verdict: { type: 'allowed', needsApproval: true }, tokens: 0 } as const
    try {
      // The log says first what is going to be decided about.
      await ports.durable()
    } catch (thrown) {
      return { ...nothing, at: ports.clock.now(), notStarted: toErrorInfo(thrown, 'STORE_APPEND_FAILED') }
    }
    const verdict = await verdictOn(ports, input, cancellation)
    const tokens = verdict.type === 'answered' ? tokensOf(ports, input, verdict) : 0
    return { key, verdict, tokens, at: ports.clock.now() }
  })

/** Returns the decision about a call, made by `beforeTool` if there is one. Never rejects. */
export const verdictOn = (ports: AgentPorts, input: HookInput, cancellation: Cancellation): Promise<CallVerdict> =>
  verdictOf(ports, input, cancellation).catch((thrown: unknown) => failed(ports, input, thrown, cancellation))

function failed(
  ports: AgentPorts,
  { runId, turnIndex }: HookInput,
  thrown: unknown,
  cancellation: Cancellation,
): CallVerdict {
  if (!cancellation.aborted)
    ports.callbackFailed?.(hasCode(thrown, 'RULE_STORE_FAILED') ? 'permissions.store' : 'beforeTool', thrown)
  const error = clean(ports, toErrorInfo(thrown, 'HOOK_FAILED'))
  ports.emit({ type: 'error', runId, turnIndex, error })
  return { type: 'failed', error }
}

const tokensOf = (
  { conversation: { correction, counter } }: AgentPorts,
  { callId, name }: HookInput,
  { content }: Extract<CallVerdict, { type: 'answered' }>,
): number =>
  Math.round(correction * counter.message({ role: 'toolResult', callId, toolName: name, content, isError: false }))

async function verdictOf(ports: AgentPorts, input: HookInput, cancellation: Cancellation): Promise<CallVerdict> {
  const { name } = input
  const isJudged = ports.permissions !== undefined
  if (isJudged) await syncOnce(ports, input.runId)
  // What cannot run is answered with an error that says so.
  if (checkArguments(ports, name, input.input)?.ok !== true)
    return { type: 'allowed', needsApproval: false, ...(isJudged ? { rule: unjudged } : {}) }
  if (ports.definition.turns.always.includes(name))
    return {
      type: 'allowed',
      needsApproval: await ownApproval(ports, input, cancellation),
      ...(isJudged ? { rule: unjudged } : {}),
    }
  const ruling = judgeCall(ports, input)
  if (ruling?.type === 'deny') return { type: 'refused', text: whyNotRun(name, ruling) }
  if (ports.definition.hooks?.beforeTool === undefined) return ruled(ports, input, cancellation)
  const verdict = await hooked(ports, input, cancellation)
  if (verdict.type === 'allowed') return ruled(ports, input, cancellation)
  if (verdict.type !== 'edited') return verdict
  const edited = { ...input, input: verdict.input }
  const allowed = await ruled(ports, edited, cancellation)
  return allowed.type === 'allowed' ? { ...allowed, type: 'edited', input: verdict.input } : allowed
}

const ownApproval = (ports: AgentPorts, input: HookInput, cancellation: Cancellation): boolean | Promise<boolean> =>
  needsApproval(ports, input, () => runContext(ports, input, cancellation))

/** Decides about a call by the current rules and by the tool's own `needsApproval`. */
async function ruled(ports: AgentPorts, input: HookInput, cancellation: Cancellation): Promise<CallVerdict> {
  const first = judgeCall(ports, input)
  if (first === undefined) {
    const isAsked = await ownApproval(ports, input, cancellation)
    return isAsked ? asking(ports, input, cancellation, {}) : { type: 'allowed', needsApproval: false }
  }
  const wants = first.type === 'allow' && first.instead !== true && (await ownApproval(ports, input, cancellation))
  // The mode may have been changed meanwhile.
  const now = judgeCall(ports, input)!
  const ruling = wants && now.type === 'allow' && now.instead !== true ? whenAsked(ports, now) : now
  const { type, rule } = ruling
  if (type === 'deny') return { type: 'refused', text: whyNotRun(input.name, ruling) }
  const judgedAt = ports.parts.permissions?.seq ?? 0
  if (type === 'allow') return { type: 'allowed', needsApproval: false, rule, judgedAt }
  return asking(ports, input, cancellation, { rule, judgedAt, suggest: suggested(ports, input) })
}

/** Returns the verdict that people are asked, unless the tool finds that the call cannot succeed. */
async function asking(
  ports: AgentPorts,
  input: HookInput,
  cancellation: Cancellation,
  ruling: Pick<Extract<CallVerdict, { type: 'allowed' }>, 'rule' | 'judgedAt' | 'suggest'>,
): Promise<CallVerdict> {
  const mistake = await mistakeIn(ports, input, input, cancellation)
  return mistake === undefined
    ? { type: 'allowed', needsApproval: true, ...ruling }
    : { type: 'mistaken', text: mistake }
}

/** Returns rules that would have allowed the call, without those that contain a secret, because the log would change them. */
const suggested = (ports: AgentPorts, input: HookInput): readonly string[] =>
  suggestionsFor(ports, input).filter((rule) => clean(ports, rule) === rule)

async function hooked(ports: AgentPorts, input: HookInput, cancellation: Cancellation): Promise<CallVerdict> {
  const { beforeTool, timeoutMs } = ports.definition.hooks!
  const { name } = input
  const limits = { name: 'beforeTool', timeoutMs }
  const answer: unknown = await answerInTime(ports, limits, cancellation, (signal) =>
    ports.within({ type: 'hook' }, () =>
      beforeTool!(hookedCall(ports, { ...input, key: input.callKey }, signal, 'beforeTool')),
    ),
  )
  const [kind, value] = readAnswer(answer)
  switch (kind) {
    case 'allow':
      return { type: 'allowed', needsApproval: false }
    case 'deny':
      return { type: 'denied', reason: cutEnd(asSentence(clean(ports, String(value))), longestReason) }
    case 'result':
      return {
        type: 'answered',
        content: contentOf(value, ports.definition.tools.get(name)?.maxOutputChars ?? maxAnswerChars, ports),
      }
    case 'input': {
      const given = cloneJson(value)
      const checked = checkArguments(ports, name, given)
      if (checked?.ok === false)
        throw new RuntimeError('HOOK_FAILED', `beforeTool gave "${name}" arguments that do not fit: ${checked.message}`)
      return { type: 'edited', input: settledInput(ports.definition, { name, input: given }), needsApproval: false }
    }
  }
}

const kinds = ['allow', 'deny', 'input', 'result'] as const

/** Returns the one decision that an answer contains. @throws RuntimeError `HOOK_FAILED` */
function readAnswer(answer: unknown): readonly [(typeof kinds)[number], unknown] {
  if (answer === undefined) return ['allow', true]
  if (typeof answer === 'object' && answer !== null) {
    const [first, ...others] = Object.entries(answer)
    const kind = kinds.find((one) => one === first?.[0])
    if (kind !== undefined && others.length === 0 && isSound(kind, first![1])) return [kind, first![1]]
  }
  const seen = cutEnd(describe(answer), 200)
  const expected = "nothing, { allow: true }, { deny: 'why' }, { input: { … } } or { result: … }"
  throw new RuntimeError('HOOK_FAILED', `beforeTool answered ${seen}, where it may answer ${expected}.`)
}

function isSound(kind: (typeof kinds)[number], value: unknown): boolean {
  switch (kind) {
    case 'allow':
      return value === true
    case 'deny':
      return typeof value === 'string' && value.trim() !== ''
    case 'input':
      return typeof value === 'object' && value !== null
    case 'result':
      return true
  }
}

/** Returns a value from the application as text for a message. */
export function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch (thrown) {
    return `something that is not JSON (${messageOf(thrown)})`
  }
}
