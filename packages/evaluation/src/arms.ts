import type { BrakingOptions } from '../../../src/actors/define/brakingOptions.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { compositions } from '../../policies/src/compositions.ts'
import type { AgentChanges } from './redefine.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { nearestWord } from '../../../src/protocol/checks/nearestWord.ts'
import { givenBy } from './givenBy.ts'
import type { AgentSource, Overlay } from './suite/defineSuite.ts'

/** A variant of the suite's agent that is tried. */
export interface Arm {
  readonly name: string
  /** Name of the arm's model. */
  readonly model?: string
  /** Changes to the agent's options; missing: none. */
  readonly overlay?: Overlay
  /** Agent of the arm, in place of the other arms' agent. */
  readonly source?: AgentSource
}

/** The agent as it is defined. */
export const unchangedArm = 'as-defined'

type Brake = Exclude<keyof BrakingOptions, 'policies'>

/** Names of the brakes, each with the agent's settings, else with its defaults. */
const brakes: readonly Brake[] = ['fold', 'recall', 'stall', 'revert', 'prune', 'graft', 'lessons']

/** Changes that disable everything that reshapes the conversation. */
const off: AgentChanges = { braking: {}, compaction: false }

const atoms: readonly string[] = ['off', unchangedArm, 'compaction', ...brakes, ...Object.keys(compositions)]

const modelPrefix = 'model='

/** Returns the names of which arms can be made. */
export const armNames = (own: Readonly<Record<string, Overlay>> = {}): readonly string[] => [
  ...Object.keys(own),
  ...atoms,
  `${modelPrefix}<provider:id>`,
]

/**
 * Makes an arm from its name: parts with `+` between. `off` and brakes determine braking and
 * compaction completely: everything they do not name is off. A model alone changes nothing else.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the available arms.
 */
export function armOf(name: string, own: Readonly<Record<string, Overlay>> = {}): Arm {
  // An arm of the suite may have any name.
  if (Object.hasOwn(own, name)) return { name, overlay: own[name]! }
  const parts = name.split('+')
  const models = parts.filter((part) => part.startsWith(modelPrefix)).map((part) => part.slice(modelPrefix.length))
  const others = parts.filter((part) => !part.startsWith(modelPrefix))
  const [model] = models
  if (models.length > 1) throw wrong(name, 'names two models')
  if (model === '') throw wrong(name, 'names no model: write model=<provider:id>')
  const twice = others.find((part, index) => others.indexOf(part) !== index)
  if (twice !== undefined) throw wrong(name, `has "${twice}" twice`)
  for (const part of others) {
    if (Object.hasOwn(own, part) || atoms.includes(part)) continue
    const names = armNames(own)
    const nearest = nearestWord(part, names)
    const hint = nearest === undefined ? `There are: ${names.join(', ')}` : `Did you mean "${nearest}"?`
    throw wrong(name, `: there is no "${part}". ${hint}`)
  }
  const alone = others.find((part) => part === 'off' || part === unchangedArm)
  if (alone !== undefined && others.length > 1) throw wrong(name, `: "${alone}" goes with a model alone`)
  const overlay = others.length === 0 || alone === unchangedArm ? undefined : combined(others, own)
  return { name, ...(model === undefined ? {} : { model }), ...(overlay === undefined ? {} : { overlay }) }
}

const wrong = (name: string, what: string): RuntimeError =>
  new RuntimeError('INVALID_OPTION', `The arm "${name}"${what.startsWith(':') ? '' : ' '}${what}.`)

/** Combines the parts of an arm; later parts override earlier ones. */
const combined =
  (parts: readonly string[], own: Readonly<Record<string, Overlay>>): Overlay =>
  (options) => {
    let changes: AgentChanges = off
    for (const part of parts) {
      const more = Object.hasOwn(own, part)
        ? applied(part, own[part]!, { ...options, ...changes })
        : ofAtom(part, options)
      changes = { ...changes, ...more, braking: { ...changes.braking, ...more.braking } }
    }
    return changes
  }

/** Returns the options that an overlay gives an agent. */
export const applied = (name: string, overlay: Overlay, options: AgentChanges): AgentChanges =>
  typeof overlay === 'function' ? givenBy(`The options of the arm "${name}"`, () => overlay(options)) : overlay

function ofAtom(part: string, { braking = {}, compaction }: AgentChanges): AgentChanges {
  const window = typeof compaction === 'object' ? compaction.contextWindow : undefined
  if (part === 'off') return {}
  if (part === 'compaction') return { compaction: typeof compaction === 'object' ? compaction : {} }
  if (Object.hasOwn(compositions, part)) {
    const make = compositions[part as keyof typeof compositions]
    return make(window === undefined ? {} : { contextWindow: window })
  }
  const brake = part as Brake
  const given = braking[brake]
  return { braking: { [brake]: typeof given === 'object' ? given : true } }
}

/** Returns the arms of an evaluation, the first of which is the baseline. @throws RuntimeError `INVALID_OPTION` for two arms with the same name. */
export function checkedArms(arms: readonly Arm[]): readonly Arm[] {
  const names = arms.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new RuntimeError('INVALID_OPTION', `The arm "${twice}" is named twice.`)
  return arms
}

/** Returns the options that an arm gives an agent beside its model. */
export const changesOf = ({ name, overlay }: Arm, options: AgentOptions): AgentChanges =>
  overlay === undefined ? {} : applied(name, overlay, options)
