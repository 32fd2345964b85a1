import { counted } from '../../../../../charts/src/amounts.ts'
import type { TurnUse } from '../../../../../../src/protocol/bridge/turns.ts'
import type { SourceView } from '../agent/agentView.ts'
import { oneLine } from '../words/shortText.ts'

const longest = 240

/** Returns the beginning of a text on one line. */
export const short = (text: string): string => oneLine(text, longest)

/** Describes the model, tools and instructions that an agent was told to use, on one line. */
export const useWords = ({ model, tools, instructions }: TurnUse): string =>
  [
    model === undefined ? '' : `model ${model.name ?? model.id}`,
    tools === undefined ? '' : tools.length === 0 ? 'no tools' : `tools ${tools.join(', ')}`,
    instructions === undefined ? '' : `instructions ${short(instructions)}`,
  ]
    .filter(Boolean)
    .join(' · ')

/** Describes a source of tools on one line, with its condition if that is known and worth saying. */
export const sourceWords = ({ source, state = 'up', tools, trouble }: SourceView): string =>
  `${source}: ${counted(tools.length, 'tool')}${state === 'up' ? '' : `, ${state}`}${trouble === undefined ? '' : `, ${short(trouble)}`}`
