import type { PlainBlock } from '../protocol/messages.ts'
import type { CallState } from './agentTypes.ts'

/** Returns a block that tells the model which input its call ran with. */
export function editNote({ input }: Pick<CallState, 'input'>): PlainBlock {
  const json = JSON.stringify(input)
  const cut = json.length > maxNotedChars ? `${json.slice(0, maxNotedChars).replace(halfSign, '')}…` : json
  return { type: 'text', text: `A person changed the arguments of this call before it ran, to: ${cut}` }
}

const maxNotedChars = 1_000
/** The first half of a pair of surrogates: no provider takes it alone. */
const halfSign = /[\uD800-\uDBFF]$/
