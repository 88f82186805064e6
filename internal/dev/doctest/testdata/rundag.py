"""Runs the task "clicks" of a folder of DAGs as of each time, and prints the state of the run and what the task is worth to others."""

import sys
from datetime import datetime

from airflow.dag_processing.dagbag import DagBag
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session

bag = DagBag(sys.argv[1])
if bag.import_errors:
    sys.exit(str(bag.import_errors))
for when in sys.argv[2:]:
    run = bag.dags["clicks"].test(logical_date=datetime.fromisoformat(when), mark_success_pattern="clicks_in_a_pod")
    with create_session() as session:
        values = [x.value for x in session.query(XComModel).filter(XComModel.run_id == run.run_id, XComModel.task_id == "clicks")]
    print("ran:", run.state, *values)
