import { digestLine, foldLine } from '../../../src/conversation/brakes/fold/foldLine.ts'
import { stepsOfPart } from './hiddenSteps.ts'
import { archive } from './keepArchive.ts'
import { memory } from './keepMemory.ts'
import { summary } from './keepSummary.ts'
import { notesKeeper, type Keeper, type Kept } from '../../../src/actors/define/policy.ts'

const always = (name: string, kept: Kept): Keeper => Object.freeze({ name, keep: () => kept })

/** Leaves only the steps that must stay: calls that cannot be undone, and calls that a person denied. */
const nothing = (): Keeper => always('nothing()', { as: 'memo' })

/** Leaves one computed line for all steps: which tools were called how often, which files changed. For a single step, its action. */
const line = (): Keeper =>
  Object.freeze<Keeper>({
    name: 'line()',
    keep(part, at) {
      const steps = stepsOfPart(part, at)
      return { as: 'memo', memo: steps.length === 1 ? foldLine(steps[0]!) : digestLine(steps) }
    },
  })

/** Leaves a computed line for each step, and an index of the names found nowhere else, as the runtime's fold does. */
const notes = (): Keeper => notesKeeper

/** Works as `notes()`, and shortens older lines as they pile up. */
const rollUp = (): Keeper => always('rollUp()', { as: 'lines', rollUp: true })

/** Leaves the replies and calls unchanged. A line replaces their results. */
const masked = (): Keeper => always('masked()', { as: 'calls' })

/**
 * Functions that make a `Keeper`, which leaves something in place of the steps that a policy hides. Whatever is chosen, the whole stays in
 * the log.
 */
export const keep = Object.freeze({ nothing, line, notes, rollUp, masked, summary, memory, archive })
