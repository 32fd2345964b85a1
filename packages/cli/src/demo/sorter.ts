import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { ModelChoice } from '../models/chooseModel.ts'
import { defineCoder } from '../sessions/openSession.ts'
import { sortModel } from '../../../demo/src/sortPolicy.ts'
import { checkFile, checkProgram } from '../../../demo/src/sortTask.ts'
import { openWorkshop } from './workshop.ts'

const wordDelayMs = 18
const checkCommand = /^node check\.mjs(?: \d+)*$/

/** Shortest task that the sorter understands. */
export const wordsForSorter = 'Sort.'

/** Returns the folder, tools and brakes of the sort demo, whichever model is used. */
export const sorterSetting = (yes: boolean) => ({
  braking: { revert: true },
  needsApproval: (command: string): boolean => !yes && !checkCommand.test(command),
})

/** Returns the keyless model of the sort demo. */
export const embeddedSorter = (isSlow: boolean): ModelChoice => ({
  model: sortModel({ wordDelayMs: isSlow ? wordDelayMs : 0 }),
  isEmbedded: true,
})

/** Defines an agent for the sort demo, with a folder of its own. */
export const defineSorter = ({ isSlow }: { readonly isSlow: boolean }): AgentDefinition =>
  defineCoder({
    ...openWorkshop({ [checkFile]: checkProgram }),
    ...sorterSetting(false),
    choice: embeddedSorter(isSlow),
    name: 'sorter',
  })
