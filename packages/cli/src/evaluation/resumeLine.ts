import { fieldOf, type Invocation } from '../commandLine.ts'
import { options, type OptionName } from '../options.ts'
import { shellWord } from '../../../charts/src/text/shellWord.ts'

/** Options that the folder of an evaluation remembers or replaces. */
const remembered: ReadonlySet<OptionName> = new Set(['arm', 'trials', 'seed', 'budget', 'out', 'resume'])

/** Returns the command that continues an evaluation, with its original options except those that its folder remembers. Pure. */
export function resumeLine(invocation: Invocation, folder: string): string {
  const given = (Object.keys(options) as OptionName[]).flatMap((name) => {
    const value = invocation[fieldOf(name)]
    if (remembered.has(name) || value === undefined || value === false) return []
    return typeof value === 'string' ? [`--${name}`, shellWord(value)] : [`--${name}`]
  })
  return ['escapement eval', shellWord(invocation.task ?? ''), '--resume', shellWord(folder), ...given].join(' ')
}
