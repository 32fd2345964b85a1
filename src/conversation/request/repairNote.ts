import { brakeMarkers } from './markers.ts'
import { neutralise } from './renderMessage.ts'

/** Renders the runtime's note after the trunk, which tells the model that its answer could not be used. */
export const renderRepair = (text: string): string =>
  `<runtime-note kind="repair">${neutralise(text, brakeMarkers)}</runtime-note>`
