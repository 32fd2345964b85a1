import { agentMachine, chart } from 'escapement'

globalThis.shown = chart(agentMachine).split('\n')[0]
