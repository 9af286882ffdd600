export { DRILLS, drillsNamed } from './drills.ts';
export type { Drill, DrillReport, Figure } from './stage/drill.ts';
export { type Connect, type Place, placeIn, type Road, type ServerControl } from './stage/place.ts';
export type { Output } from './stage/progress.ts';
export { type DrillsResult, type DrillsRun, exitCodeOf, runDrills } from './stage/run-drills.ts';
