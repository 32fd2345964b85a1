import { agentMachine, chart } from 'escapement'

globalThis.shown = /^stateDiagram\S*/m.exec(chart(agentMachine))[0]
