import { brakeMarkers } from './markers.ts'
import { neutralise } from './renderMessage.ts'

/** The runtime's note after the trunk, telling the model that its answer could not be used. */
export const renderRepair = (text: string): string =>
  `<runtime-note kind="repair">${neutralise(text, brakeMarkers)}</runtime-note>`
