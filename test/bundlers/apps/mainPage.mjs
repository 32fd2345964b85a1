import { agentMachine } from 'escapement'
import { chart } from 'escapement/charts'

globalThis.shown = /^stateDiagram\S*/m.exec(chart(agentMachine))[0]
