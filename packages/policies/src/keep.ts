import { digestLine, foldLine } from '../../../src/conversation/brakes/fold/foldLine.ts'
import { stepsOfPart } from './hiddenSteps.ts'
import { archive } from './keepArchive.ts'
import { memory } from './keepMemory.ts'
import { summary } from './keepSummary.ts'
import { notesKeeper, type Keeper, type Kept } from '../../../src/actors/define/policy.ts'

const always = (name: string, kept: Kept): Keeper => Object.freeze({ name, keep: () => kept })

/** Leaves only what must stay: calls that cannot be undone, and those that a person said no to. */
const nothing = (): Keeper => always('nothing()', { as: 'memo' })

/** One computed line for all of them: which tools were called how often, which files changed. For a single step, it says what that did. */
const line = (): Keeper =>
  Object.freeze<Keeper>({
    name: 'line()',
    keep(part, at) {
      const steps = stepsOfPart(part, at)
      return { as: 'memo', memo: steps.length === 1 ? foldLine(steps[0]!) : digestLine(steps) }
    },
  })

/** A computed line for each step, and an index of the names that stand nowhere else, as when the runtime folds. */
const notes = (): Keeper => notesKeeper

/** As `notes()`, and older lines become shorter as they pile up. */
const rollUp = (): Keeper => always('rollUp()', { as: 'lines', rollUp: true })

/** The replies and calls stay as they were; their results give way to a line. */
const masked = (): Keeper => always('masked()', { as: 'calls' })

/**
 * Functions that make a `Keeper`, which leaves something in place of the steps that a policy hides. Whatever is chosen, the whole stays in
 * the log.
 */
export const keep = Object.freeze({ nothing, line, notes, rollUp, masked, summary, memory, archive })
