import { decisionForms } from '../../../../src/protocol/bridge/decisionForms.ts'
import type { RevertCategory } from '../../../../src/protocol/braking.ts'
import { checkRules, wrongCommand } from '../../../../src/protocol/bridge/commandRules.ts'
import type { AgentCommand } from '../../../../src/protocol/bridge/commands.ts'
import { scheduleIdPattern, scheduleIdWords } from '../../../../src/protocol/parts/schedules/scheduleId.ts'
import type { CatchUp } from '../../../../src/protocol/parts/schedules/scheduleTimes.ts'
import { permissionModes } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import type { Grant, GrantScope } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'
import type { ProvenanceKind } from '../../../../src/protocol/provenance.ts'
import type { StateOp } from '../../../../src/protocol/parts/state/patch.ts'
import type { Limits } from '../../../../src/protocol/runs/runLimits.ts'
import { wrongInSaid, type Content } from '../../../../src/protocol/text/saidContent.ts'
import type { UseChange } from '../../../../src/protocol/bridge/turns.ts'
import {
  anything,
  count,
  list,
  maybe,
  oneOf,
  onlyFields,
  orNull,
  partly,
  positive,
  text,
  thatIs,
  word,
  wrongText,
  yesOrNo,
  type Fields,
  type Shape,
} from './shape.ts'

type CommandOf<T extends AgentCommand['type']> = Extract<AgentCommand, { readonly type: T }>

const content: Shape<Content> = (value) => {
  const what = wrongInSaid(value)
  return what === undefined ? undefined : { path: [], what }
}

/** Shape that checks only the type of a provenance. The server checks the other fields. */
const provenance = partly<ProvenanceKind>({ type: text as Shape<never> })

const whole = thatIs<number>((value) => Number.isSafeInteger(value) && (value as number) > 0, 'give a whole number')

const limits = onlyFields<Limits>({
  turns: maybe(whole),
  tokens: maybe(whole),
  costUsd: maybe(positive),
  ms: maybe(positive),
  onLimit: maybe(word('pause', 'answer')),
})

/** Shape of a text of `least` to `most` characters. */
const textOf = (least: number, most: number): Shape<string> =>
  thatIs(
    (value) => typeof value === 'string' && value.length >= least && value.length <= most,
    `give ${least} to ${most} characters`,
  )

const use = onlyFields<UseChange>({
  instructions: maybe(orNull(textOf(0, 1_000_000))),
  tools: maybe(orNull(list(text))),
  model: maybe(orNull(textOf(1, 256))),
})

const path = thatIs<string>((value) => typeof value === 'string' && /^(\/|$)/.test(value), 'give a JSON pointer')
/** Shape of any value except a missing one. */
const present = thatIs<unknown>((value) => value !== undefined, 'give a value')
const op = oneOf<'op', StateOp>('op', {
  add: onlyFields({ op: word('add'), path, value: present }),
  replace: onlyFields({ op: word('replace'), path, value: present }),
  remove: onlyFields({ op: word('remove'), path }),
} as never)
const rules = textOf(1, 2_100)
const scopes = word<GrantScope>('session', 'always')

const categories = word<RevertCategory>('failure', 'tangent', 'completion', 'step-summary')
const said = {
  agentId: text,
  content,
  provenance: maybe(provenance),
  context: maybe(
    list(onlyFields<{ content: Content; provenance?: ProvenanceKind }>({ content, provenance: maybe(provenance) })),
  ),
}

/** Returns the shape of a command from its type and its other fields. */
const command = <T extends AgentCommand['type']>(
  type: T,
  fields: Omit<Fields<CommandOf<T>>, 'type'>,
): Shape<CommandOf<T>> => onlyFields({ ...fields, type: word(type) } as unknown as Fields<CommandOf<T>>)

const shapes: { readonly [T in AgentCommand['type']]: Shape<CommandOf<T>> } = {
  'agent.prompt': command('agent.prompt', { ...said, limits: maybe(limits) }),
  'agent.interrupt': command('agent.interrupt', { ...said, limits: maybe(limits) }),
  'agent.steer': command('agent.steer', said),
  'agent.followUp': command('agent.followUp', said),
  'agent.abort': command('agent.abort', {
    agentId: text,
    run: maybe(text),
    background: maybe(word<false | 'run'>(false, 'run')),
  }),
  'agent.resume': command('agent.resume', { agentId: text, limits: maybe(limits) }),
  'agent.stop': command('agent.stop', { agentId: text }),
  'agent.revert': command('agent.revert', {
    agentId: text,
    step: text,
    category: categories,
    summary: maybe(text),
    undo: maybe(yesOrNo),
  }),
  'agent.prune': command('agent.prune', {
    agentId: text,
    steps: maybe(list(text, 1)),
    tokens: maybe(positive),
    memo: maybe(text),
    mask: maybe(word(true)),
    show: maybe(word(true)),
  }),
  'agent.fold': command('agent.fold', { agentId: text }),
  'agent.brake': command('agent.brake', { agentId: text, policy: text }),
  'agent.compact': command('agent.compact', { agentId: text, focus: maybe(textOf(1, 4_000)) }),
  'agent.graft': command('agent.graft', { agentId: text, steps: list(text, 1) }),
  'agent.use': command('agent.use', { agentId: text, use: orNull(use) }),
  'agent.state': command('agent.state', { agentId: text, patch: list(op, 1), base: maybe(count) }),
  'agent.pin': command('agent.pin', { agentId: text, step: text }),
  'agent.unpin': command('agent.unpin', { agentId: text, step: text }),
  'agent.schedule': command('agent.schedule', {
    agentId: text,
    schedule: thatIs<string>((value) => typeof value === 'string' && scheduleIdPattern.test(value), scheduleIdWords),
    prompt: thatIs<string>(
      (value) => typeof value === 'string' && value.trim() !== '' && value.trim().length <= 20_000,
      'give 1 to 20000 characters',
    ),
    at: maybe(
      thatIs<number | string>((value) => typeof value === 'number' || typeof value === 'string', 'give a time'),
    ),
    every: maybe(positive),
    cron: maybe(text),
    timezone: maybe(text),
    limits: maybe(limits),
    catchUp: maybe(word<CatchUp>('once', 'skip', 'all')),
  }),
  'agent.unschedule': command('agent.unschedule', { agentId: text, schedule: text }),
  'agent.fire': command('agent.fire', { agentId: text, schedule: text }),
  'agent.permit': command('agent.permit', {
    agentId: text,
    rule: rules,
    decision: maybe(word('allow', 'deny')),
    for: scopes,
  }),
  'agent.revoke': command('agent.revoke', { agentId: text, grant: text }),
  'agent.mode': command('agent.mode', { agentId: text, mode: word(...permissionModes) }),
  'agent.decide': command('agent.decide', {
    agentId: text,
    callId: text,
    decision: thatIs(
      (value) => ['approve', 'deny', 'answer', 'return', 'fail'].includes(value as string),
      decisionForms,
    ),
    reason: maybe(text),
    input: maybe(anything),
    grant: maybe(onlyFields<Grant>({ rule: rules, scope: scopes })),
    value: maybe(anything),
    data: maybe(anything),
  }),
}

const shape: Shape<AgentCommand> = oneOf<'type', AgentCommand>('type', shapes)

/**
 * Checks a command before it is sent, so that invalid arguments throw where they are given. The server checks it again, completely.
 *
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export function checkCommand(given: AgentCommand): void {
  const wrong = shape(given)
  if (wrong !== undefined) throw wrongCommand(given, wrongText(wrong))
  checkRules(given)
}
