/** The door of the page to what results keep beside the log. */
export { ArtifactReader as KeptReader, isPicture, type ArtifactPorts as FilePorts } from './artifactReader.ts'
export { keptIn } from './namedArtifacts.ts'
export { artifactNotes as keptNotes, readArtifactName as readKeptName } from './artifactNotes.ts'
