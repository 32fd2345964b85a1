import type { FindPorts } from '../agentPorts.ts'
import { drainFold } from './fold/drainFold.ts'
import { drainGrafts } from './graft/drainGrafts.ts'
import { drainPins } from './pins/drainPins.ts'
import { drainPrunes } from './prune/drainPrunes.ts'
import { drainReverts } from './revert/drainReverts.ts'
import { drainStall } from './stall/drainStall.ts'

/** The effects of `draining` that call a model at most for a note, by their names in the chart. */
export const drains = (find: FindPorts) => ({
  drainPins: drainPins(find),
  drainReverts: drainReverts(find),
  drainGrafts: drainGrafts(find),
  drainPrunes: drainPrunes(find),
  drainFold: drainFold(find),
  drainStall: drainStall(find),
})
