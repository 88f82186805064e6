"""Runs the task "clicks" of a folder of DAGs as of a time, and prints the state of the run and what the task is worth to others."""

import sys
from datetime import datetime

from airflow.dag_processing.dagbag import DagBag
from airflow.models.xcom import XComModel
from airflow.utils.session import create_session

bag = DagBag(sys.argv[1])
if bag.import_errors:
    sys.exit(str(bag.import_errors))
run = bag.dags["clicks"].test(logical_date=datetime.fromisoformat(sys.argv[2]), mark_success_pattern="clicks_in_a_pod")
with create_session() as session:
    for x in session.query(XComModel).filter(XComModel.run_id == run.run_id, XComModel.task_id == "clicks"):
        print("value:", x.value)
print("state:", run.state)
