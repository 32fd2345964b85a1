import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { ModelChoice } from '../models/chooseModel.ts'
import { defineCoder } from '../sessions/openSession.ts'
import { sortModel } from '../../../demo/src/sortPolicy.ts'
import { checkFile, checkProgram } from '../../../demo/src/sortTask.ts'
import { openWorkshop } from './workshop.ts'

const wordDelayMs = 18
const checkCommand = /^node check\.mjs(?: \d+)*$/

/** The shortest words that the sorter understands. */
export const wordsForSorter = 'Sort.'

/** The folder, the tools and the brakes of the sort demo, whichever model does it. */
export const sorterSetting = (yes: boolean) => ({
  braking: { revert: true },
  needsApproval: (command: string): boolean => !yes && !checkCommand.test(command),
})

/** The model of the sort demo without a key. */
export const embeddedSorter = (isSlow: boolean): ModelChoice => ({
  model: sortModel({ wordDelayMs: isSlow ? wordDelayMs : 0 }),
  isEmbedded: true,
})

/** An agent for the sort demo, with a folder of its own. */
export const defineSorter = ({ isSlow }: { readonly isSlow: boolean }): AgentDefinition =>
  defineCoder({
    ...openWorkshop({ [checkFile]: checkProgram }),
    ...sorterSetting(false),
    choice: embeddedSorter(isSlow),
    name: 'sorter',
  })
