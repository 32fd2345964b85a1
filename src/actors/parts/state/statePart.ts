import { agentPart } from '../agentPart.ts'
import { stateOf, stateSchema, type StateOption, type StateSetting } from './stateOptions.ts'

/** State beside the conversation. */
export const statePart = agentPart<StateOption<unknown>, StateSetting>({
  options: { state: stateSchema },
  settings: ({ state }, label) => ({ state: stateOf(state, label) }),
  staysAtHandoff: 'state',
})
