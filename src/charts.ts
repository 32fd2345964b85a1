/** The door "escapement/charts": agents and conversations as text, Mermaid, SVG and data. */
export { chart, type ChartSubject } from '../packages/charts/src/chart.ts'
export type { ChartModel } from '../packages/charts/src/chartModel.ts'
export { conversationGraph, type ConversationSubject } from '../packages/charts/src/conversationGraph.ts'
export type { ConversationModel } from '../packages/charts/src/conversationModel.ts'
