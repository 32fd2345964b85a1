import type { FindPorts } from '../agentPorts.ts'
import { drainFold } from './drainFold.ts'
import { drainGrafts } from './drainGrafts.ts'
import { drainPins } from './drainPins.ts'
import { drainPrunes } from './drainPrunes.ts'
import { drainReverts } from './drainReverts.ts'
import { drainStall } from './drainStall.ts'

/** The effects of `draining` that call a model at most for a note, by their names in the chart. */
export const drains = (find: FindPorts) => ({
  drainPins: drainPins(find),
  drainReverts: drainReverts(find),
  drainGrafts: drainGrafts(find),
  drainPrunes: drainPrunes(find),
  drainFold: drainFold(find),
  drainStall: drainStall(find),
})
